import { fork } from 'node:child_process';
import { on } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/store/engine/open.ts';
import { anAccount } from '../../support/builders.ts';
import { aDatabasePath } from '../../support/store.ts';

test('of 200 parallel requests with one key to two workers of a cluster exactly 60 pass', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  const { key } = await anAccount(store.db);
  await store.close();
  const ports = await startCluster(path);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => ask(ports[i % 2] as number, key)),
  );
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed).toHaveLength(60);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(140);
  // Each count was given out once.
  expect(passed.map(({ left }) => left).sort((a, b) => a - b)).toEqual([...Array(60).keys()]);
});

async function startCluster(path: string): Promise<number[]> {
  const primary = fork(new URL('cluster-process.ts', import.meta.url), [path]);
  onTestFinished(() => void primary.kill());
  const ports: number[] = [];
  for await (const [port] of on(primary, 'message', { close: ['exit'] })) {
    ports.push(port);
    if (ports.length === 2) break;
  }
  return ports;
}

async function ask(port: number, key: string) {
  const { status, headers } = await fetch(`http://127.0.0.1:${port}/v1/external/domains`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const [, left] = /"key";r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return { status, left: Number(left) };
}
