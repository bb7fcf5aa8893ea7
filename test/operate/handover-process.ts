/**
 * Replaces the servers of one port, each by a new one that is started before it is stopped, while clients ask. Prints how
 * many were replaced, and how the requests ended. Its arguments are the command's module and a key.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { askRepeatedly } from './load.ts';

const [cli = '', key = ''] = process.argv.slice(2);
const port = Number(process.env['PLUMBLINE_PORT']);
const requests = Number(process.env['RESTART_REQUESTS'] ?? 10_000);
const headers = { Authorization: `Bearer ${key}` };
/** As a proxy has them. All other requests have a connection of their own. */
const kept = new Agent({ keepAlive: true, maxSockets: 10 });

async function start(): Promise<ChildProcess> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [cli, 'serve', '--json'], { stdio: [...stdio] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

let asked = 0;
const ask = () =>
  new Promise<string>((resolve) => {
    const agent = asked++ % 2 === 0 ? kept : false;
    get({ port, host: '127.0.0.1', path: '/v1/external/domains', headers, agent }, (res) => {
      res.resume().once('end', () => resolve(String(res.statusCode)));
    }).once('error', (error) => resolve(error.message));
  });

const running = [await start(), await start()];
let replaced = 0;
const load = askRepeatedly({ requests, isEnough: () => replaced > 1, clients: 20, ask });
while (!load.isOver()) {
  running.push(await start());
  await stop(running.shift() as ChildProcess);
  replaced += 1;
}
const outcomes = await load.outcomes;
kept.destroy();
await Promise.all(running.map(stop));
process.stdout.write(JSON.stringify({ replaced, outcomes }));
