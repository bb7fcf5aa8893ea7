import { once } from 'node:events';
import { Agent, get } from 'node:https';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anAccount } from '../support/builders.ts';
import { aCommand, printed } from '../support/command.ts';
import { aPerson, PASSWORD } from '../support/visitor.ts';
import { askRepeatedly } from './load.ts';
import { findFreePort, type RunningProxy, runCaddy, runNginx } from './proxy.ts';

const PATH = '/v1/external/domains';
const PROXIES = [
  ['nginx', runNginx],
  ['Caddy', runCaddy],
] as const;

type Command = Awaited<ReturnType<typeof aCommand>>;

/** A process that serves a database which others may serve as well, until the test ends. */
async function serve({ start }: Command, port: number) {
  const child = start('serve', '--json');
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.resume();
  await printed(child, /"url"/);
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await ended)[0]).toBe(0);
    },
  };
}

async function aServer(env: Readonly<Record<string, string>> = {}) {
  const port = await findFreePort();
  const command = await aCommand({
    PLUMBLINE_PORT: String(port),
    PLUMBLINE_TRUSTED_PROXIES: '127.0.0.1',
    ...env,
  });
  await serve(command, port);
  return { port, ...command };
}

describe.each(PROXIES)('%s', (_name, run) => {
  test('an address of its own counts for each client, whatever the client says', async () => {
    const { port } = await aServer({ PLUMBLINE_REQUESTS_PER_IP: '3' });
    const { send } = await run([port]);
    const statuses = async (from: string) => {
      const found: unknown[] = [];
      for (let i = 1; i <= 4; i++) {
        const headers = { 'X-Forwarded-For': `192.0.2.${i}` };
        found.push((await send(PATH, { from, headers })).status);
      }
      return found;
    };
    expect(await statuses('127.0.0.2')).toEqual([401, 401, 401, 429]);
    expect(await statuses('127.0.0.3')).toEqual([401, 401, 401, 429]);
  });

  test('signing in is accepted, and the cookie is Secure', async () => {
    const { port, withDb } = await aServer();
    const email = await withDb(async (db) => {
      const { id } = await anAccount(db);
      return (await aPerson({ db }, id)).email;
    });
    const { send } = await run([port]);
    const { status, headers } = await send('/settings/sign-in', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: 'https://dmarc.example.com',
      },
      body: String(new URLSearchParams({ email, password: PASSWORD })),
    });
    expect(status).toBe(303);
    expect(String(headers['set-cookie'])).toMatch(/^__Host-plumbline-session=.*; Secure/);
  });
});

/** How many requests are made while the instances restart. The published figure is for 100,000. */
const REQUESTS = Number(process.env['RESTART_REQUESTS'] ?? 10_000);
const CONNECTIONS = 20;

test.each(PROXIES)(
  'two instances behind %s lose no request while they restart one after the other',
  async (_name, run) => {
    const ports = [await findFreePort(), await findFreePort()];
    const common = {
      PLUMBLINE_TRUSTED_PROXIES: '127.0.0.1',
      PLUMBLINE_STOP_DELAY_SECONDS: '3',
      PLUMBLINE_REQUESTS_PER_IP: '1000000000',
      PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    };
    const command = await aCommand(common);
    const onPort = (port: number) => ({
      ...command,
      start: (...given: string[]) => {
        command.env['PLUMBLINE_PORT'] = String(port);
        return command.start(...given);
      },
    });
    const first = await serve(onPort(ports[0] as number), ports[0] as number);
    const { key } = await command.withDb((db) => anAccount(db));
    const running = [first, await serve(onPort(ports[1] as number), ports[1] as number)];
    const proxy = await run(ports);
    let restarts = 0;
    const load = askThrough(proxy, key, () => restarts > 1);
    while (!load.isOver()) {
      const [oldest] = running.splice(0, 1);
      if (oldest === undefined) throw new Error('no instance runs');
      await oldest.stop();
      running.push(await serve(onPort(oldest.port), oldest.port));
      restarts += 1;
    }
    expect(Object.keys(await load.outcomes)).toEqual(['200']);
  },
);

/** Asks over connections that stay open. */
function askThrough({ port }: RunningProxy, key: string, isEnough: () => boolean) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  onTestFinished(() => agent.destroy());
  const headers = { Host: 'dmarc.example.com', Authorization: `Bearer ${key}` };
  const options = { host: '127.0.0.1', port, path: PATH, headers, agent };
  const ask = () =>
    new Promise<string>((resolve) => {
      get({ ...options, rejectUnauthorized: false }, (res) => {
        res.resume().once('end', () => resolve(String(res.statusCode)));
      }).once('error', (error) => resolve(error.message));
    });
  return askRepeatedly({ requests: REQUESTS, isEnough, clients: CONNECTIONS, ask });
}
