import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { aCommand, printed } from '../support/command.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { isProcess, listChildren } from '../support/processes.ts';
import { aScriptedImap, flood } from '../support/scripted-imap.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 50 };
const REQUESTS = 200;
const PACE_MS = 50;
/** A process at rest has 120 MB. The flood of one connection is 256 KiB. */
const MAX_RSS_MB = 350;

const rssMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;

/** How long each answer took, in milliseconds, ascending. */
async function ask(url: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < REQUESTS; i += 1) {
    const startedAt = performance.now();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    times.push(performance.now() - startedAt);
    await sleep(PACE_MS);
  }
  return times.sort((a, b) => a - b);
}

/** The times are figures to read: one machine's speed proves nothing about another's. */
test.each([
  ['GREETING', '* OK hello\r\n'],
  ['LOGIN', '* OK still busy\r\n'],
  ['UID FETCH', '* 1 FETCH\r\n'],
  ['IDLE', '* 1 FETCH (FLAGS ())\r\n'],
])('A server of the API answers and stops while a mail server floods %s', async (during, line) => {
  const mail = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name === during) flood(socket, line);
      return undefined;
    },
  });
  mail.add(1);
  const command = await aCommand({
    PLUMBLINE_IMAP_URL: `imap://reports@127.0.0.1:${mail.port}/INBOX`,
    PLUMBLINE_IMAP_PASSWORD: 'x',
    PLUMBLINE_IMAP_DONE: 'leave',
    PLUMBLINE_REQUESTS_PER_IP: '1000000',
  });
  const server = command.start('serve');
  onTestFinished(() => void server.kill('SIGKILL'));
  const url = /http\S+/.exec(await printed(server, /listens on/))?.[0] ?? '';
  server.stderr.resume();
  const pid = server.pid ?? 0;
  await expect.poll(() => mail.sockets.size, PATIENT).toBeGreaterThan(0);
  const times = await ask(url);
  const pids = [pid, ...listChildren(pid)];
  // What a busy machine has not collected yet goes again, though the flood goes on; what is kept grows without end.
  await expect.poll(() => Math.max(...pids.map(rssMb)), PATIENT).toBeLessThan(MAX_RSS_MB);
  const rss = pids.map(rssMb);
  const ended = once(server, 'exit');
  const stoppedAt = performance.now();
  server.kill('SIGTERM');
  const [status] = await ended;
  const figures = {
    during,
    p50: times[REQUESTS / 2],
    p95: times[REQUESTS * 0.95],
    worst: times.at(-1),
    stopMs: performance.now() - stoppedAt,
    rss,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(status).toBe(0);
  await expect.poll(() => pids.filter(isProcess), PATIENT).toEqual([]);
});
