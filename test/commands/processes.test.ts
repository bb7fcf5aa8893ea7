import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { aCommand, printed } from '../support/command.ts';
import { aProgram } from '../support/program.ts';

/** Processes start slowly on a busy machine. */
vi.setConfig({ testTimeout: 60_000 });
const TIMEOUT = { timeout: 30_000, interval: 50 };

/** `plumbline serve` with several processes. */
async function serve(...args: string[]) {
  return await serveWith({}, ...args);
}

async function serveWith(env: Readonly<Record<string, string>>, ...args: string[]) {
  const { start } = await aCommand({ PLUMBLINE_REQUESTS_PER_IP: '5', ...env });
  const primary = start('serve', ...args, '--json');
  onTestFinished(() => void primary.kill('SIGKILL'));
  const lines: Record<string, unknown>[] = [];
  let rest = '';
  primary.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const [last = '', ...whole] = `${rest}${text}`.split('\n').reverse();
    rest = last;
    lines.push(...whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)));
  });
  const output = await printed(primary, /\n/);
  const { url } = JSON.parse(output);
  /** The processes that have answered requests, by their lines in the log. */
  const answering = () =>
    new Set(lines.filter(({ path }) => path === '/healthz').map(({ pid }) => pid as number));
  const ask = async () => expect((await getAlone(`${url}/healthz`)).statusCode).toBe(200);
  const untilAnswering = (isEnough: (pids: ReadonlySet<number>) => boolean) =>
    expect
      .poll(async () => {
        // Some at once: an idle process accepts what a busy one does not.
        await Promise.all([ask(), ask(), ask(), ask()]);
        return isEnough(answering());
      }, TIMEOUT)
      .toBe(true);
  return { primary, url, lines, ask, answering, untilAnswering };
}

/** On a connection of its own: all requests of one connection are answered by one process. */
async function getAlone(url: string): Promise<IncomingMessage> {
  const [answer] = await once(get(url, { agent: false }), 'response');
  return (answer as IncomingMessage).resume();
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const hasEnded = async (child: ChildProcess) => child.exitCode ?? (await once(child, 'exit'))[0];

test('two processes answer on one port; one that is killed is replaced; SIGTERM lets answers finish', async () => {
  const { primary, url, answering, untilAnswering, lines, ask } = await serve('--processes', '2');
  await untilAnswering(({ size }) => size === 2);
  const pids = answering();
  expect(pids).not.toContain(primary.pid);
  const [killed = 0] = pids;
  // A process that does not respond any more keeps nobody waiting, also not after its end.
  process.kill(killed, 'SIGSTOP');
  await Promise.all([ask(), ask(), ask(), ask()]);
  process.kill(killed, 'SIGKILL');
  await untilAnswering(({ size }) => size === 3);
  expect(lines).toContainEqual(
    expect.objectContaining({
      ...{ pid: primary.pid, ended: killed, signal: 'SIGKILL', level: 'error' },
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    }),
  );

  const { socket, text } = await aRequestInProgress(url);
  primary.kill('SIGTERM');
  await expect.poll(() => fetch(url).catch(String), TIMEOUT).toMatch(/failed/);
  primary.kill('SIGTERM');
  socket.write('a=b');
  await once(socket, 'close');
  expect(text()).toMatch(/\r\n\r\nHTTP\/1\.1 [34]\d\d /);
  expect(await hasEnded(primary)).toBe(0);
  expect([...answering()].filter(isRunning)).toEqual([]);
});

/** A form whose three bytes have not been sent yet, although the server waits for them. */
async function aRequestInProgress(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(
    'POST /settings/sign-in HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n' +
      'Content-Type: application/x-www-form-urlencoded\r\n\r\n',
  );
  await expect.poll(() => text, TIMEOUT).toMatch(/^HTTP\/1\.1 100/);
  return { socket, text: () => text };
}

test('a port in use is one error; limits count all processes; they end with the first, also when it is killed', async () => {
  const { url, primary, answering, untilAnswering } = await serve(
    ...['--only', 'api', '--processes', '2'],
  );
  const { run } = await aCommand({ PLUMBLINE_PORT: new URL(url).port, PLUMBLINE_PROCESSES: '2' });
  const { status, stdout, stderr } = await run(['serve']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.match(/cannot listen/g)).toHaveLength(1);

  await untilAnswering(({ size }) => size === 2);
  const requests = Array.from({ length: 8 }, () => getAlone(`${url}/v1/external/domains`));
  const statuses = (await Promise.all(requests)).map(({ statusCode }) => statusCode);
  expect(statuses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  primary.kill('SIGKILL');
  await expect.poll(() => [...answering()].filter(isRunning), TIMEOUT).toEqual([]);
});

test('the first process answers for the metrics of all, and reads the database', async () => {
  const port = String(await findFreePort());
  const { primary, untilAnswering, answering } = await serveWith(
    { PLUMBLINE_METRICS_PORT: port },
    ...['--processes', '2'],
  );
  const read = async () =>
    await fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text(), String);
  const count = async (name: string) =>
    Number((await read()).match(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm'))?.[1] ?? -1);
  const counted = async () => await count('plumbline_http_requests_total');
  await untilAnswering(({ size }) => size === 2);
  // A line of the log is written later than the request is counted.
  const before = await counted();
  expect(before).toBeGreaterThanOrEqual(answering().size);
  // What the process of the jobs counts.
  await expect
    .poll(() => count('plumbline_job_duration_seconds_count'), TIMEOUT)
    .toBeGreaterThan(0);
  expect(await count('plumbline_database_bytes')).toBeGreaterThan(0);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  primary.kill('SIGTERM');
  expect(await hasEnded(primary)).toBe(0);
});

test.each([
  [['--processes', '0'], /1 to 64/],
  [['--processes', '65'], /1 to 64/],
  [['--processes', '1e1'], /1 to 64/],
  [['--processes', '2', '--sandbox'], /cannot be used with/],
  [['--only', 'work'], /Allowed choices are api/],
])('serve %j is refused', async (args, message) => {
  const { status, stderr } = await aProgram().run(['serve', ...args]);
  expect(status).toBe(2);
  expect(stderr).toMatch(message);
});

test('a database in memory is refused for several processes', async () => {
  const { run } = aProgram({ PLUMBLINE_DATABASE: ':memory:' });
  const { status, stderr } = await run(['serve', '--processes', '2']);
  expect(status).toBe(2);
  expect(stderr).toMatch(/in memory has one process/);
});
