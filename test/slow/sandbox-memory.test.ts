import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../../src/domain/sandbox.ts';

const CLI = fileURLToPath(new URL('../../bin/plumbline.js', import.meta.url));
/** No limits. */
const ENVIRONMENT = {
  PLUMBLINE_PORT: '0',
  PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
  PLUMBLINE_REQUESTS_PER_IP: '1000000000',
  PLUMBLINE_LOG_LEVEL: 'warn',
};

/** Requests that wait for their answers. */
const AT_ONCE = 8;
/** It takes twenty seconds, and where three lanes of CI share two processors, minutes. */
const LIMIT_MS = 1_200_000;

/** The demo, whose service has the same kind of data. */
async function serveDemo() {
  const args = [CLI, 'demo', '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url, key, domains } = JSON.parse(String(line));
  const status = () => readFileSync(`/proc/${child.pid}/status`, 'latin1');
  const readMegabytes = () => Number(/VmRSS:\s+(\d+)/.exec(status())?.[1]) / 1024;
  return { url, key, domainId: domains[0].id, readMegabytes };
}

const toReader = (base: string, key: string) => async (path: string) => {
  const headers = { authorization: `Bearer ${key}` };
  let answer = await fetch(`${base}/v1/external${path}`, { headers });
  // The sandbox is still being made, which takes long on a busy machine.
  while (answer.status === 503) {
    await sleep(1_000 * Number(answer.headers.get('retry-after')));
    answer = await fetch(`${base}/v1/external${path}`, { headers });
  }
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
};

/** Requests of all operations, each again and again. */
async function ask(read: ReturnType<typeof toReader>, domainId: string, count: number) {
  const domain = `/domains/${domainId}`;
  const { data } = await read(`${domain}/reports`);
  const paths = [
    ...['/domains', '/overview', '/days', '/alerts', '/key', '/reports?limit=200'],
    ...['/changes?include=records&limit=200', domain, `${domain}/days`, `${domain}/sources`],
    ...data.map(({ id }) => `${domain}/reports/${id}/records`),
  ];
  // One after another, each would wait for a processor that other work has.
  const askSome = async (from: number) => {
    for (let i = from; i < count; i += AT_ONCE) await read(paths[i % paths.length] as string);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, from) => askSome(from)));
}

test(
  'the sandbox takes at most 30 MB more, after 5,000 requests, than a service that has answered as many',
  async () => {
    const demo = await serveDemo();
    await ask(toReader(demo.url, demo.key), demo.domainId, 5_000);
    const before = demo.readMegabytes();
    const read = toReader(`${demo.url}/sandbox`, SANDBOX_KEY);
    await read('/domains');
    const first = demo.readMegabytes();
    await ask(read, SANDBOX_DOMAIN_IDS['example.com'] as string, 5_000);
    const after = demo.readMegabytes();
    expect(Math.max(first, after) - before, `${before} → ${first} → ${after}`).toBeLessThan(30);
  },
  LIMIT_MS,
);
