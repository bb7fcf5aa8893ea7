import { expect, onTestFinished, test } from 'vitest';
import { type ShardJob, startShardJob } from '../../src/jobs/leased-job.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { createLeases, LEASE_MS, type Leases } from '../../src/store/work/leases.ts';
import type { ShardRun } from '../../src/store/work/shards.ts';
import { aDatabasePath } from '../support/store.ts';

const HOUR_MS = 3_600_000;
const POLL_MS = 5;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes on one database file, each with a connection of its own, and one clock that the test sets. */
async function someProcesses(count: number) {
  const path = aDatabasePath();
  let nowMs = Date.parse('2026-03-01T00:00:00Z');
  const readClock = async () => nowMs;
  const processes: { readonly store: Store; readonly leases: Leases }[] = [];
  for (let i = 0; i < count; i++) {
    const store = await openStore(path);
    processes.push({ store, leases: createLeases({ db: store.db, holder: `${i}`, readClock }) });
  }
  onTestFinished(async () => {
    for (const { store } of processes) await store.close();
  });
  const logged: unknown[] = [];
  const logError = (error: unknown) => void logged.push(error);
  /** Starts the job in one of the processes; it stops at the end of the test. */
  const start = (i: number, run: ShardJob['run'], more: Partial<ShardJob> = {}) => {
    const process = processes[i];
    if (process === undefined) throw new Error('no such process');
    const job = { name: 'work', everyMs: HOUR_MS, run, ...more };
    const running = startShardJob(job, { leases: process.leases, logError, pollMs: POLL_MS });
    onTestFinished(() => running.stop());
    return running;
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { start, pass, logged };
}

test('two processes run each shard once an hour, and share them', async () => {
  const { start, pass, logged } = await someProcesses(2);
  const runs: { readonly process: number; readonly digit: string }[] = [];
  for (const process of [0, 1])
    start(process, async ({ shard }) => {
      runs.push({ process, digit: shard.digit });
      await wait(10);
      return true;
    });
  for (const hour of [1, 2]) {
    await expect.poll(() => runs.length).toBe(16 * hour);
    // Long enough for many polls.
    await wait(20 * POLL_MS);
    expect(runs).toHaveLength(16 * hour);
    const latest = runs.slice(-16);
    expect(new Set(latest.map(({ digit }) => digit)).size).toBe(16);
    expect(new Set(latest.map(({ process }) => process)).size).toBe(2);
    pass(HOUR_MS);
  }
  expect(logged).toEqual([]);
});

test('the shard of a process that does not respond is another’s when its lease ends', async () => {
  const { start, pass } = await someProcesses(2);
  const hanging = Promise.withResolvers<string>();
  const release = Promise.withResolvers<void>();
  start(0, async ({ shard }) => {
    hanging.resolve(shard.digit);
    await release.promise;
    return true;
  });
  const digit = await hanging.promise;
  const digits: string[] = [];
  start(1, async ({ shard }) => {
    digits.push(shard.digit);
    return true;
  });
  await expect.poll(() => digits.length).toBe(15);
  await wait(20 * POLL_MS);
  expect(digits).not.toContain(digit);
  pass(LEASE_MS);
  await expect.poll(() => digits.at(-1)).toBe(digit);
  release.resolve();
});

test('a shard that fails is logged and tried again, and the others run', async () => {
  const { start, logged } = await someProcesses(1);
  const runs: string[] = [];
  start(0, async ({ shard: { digit } }) => {
    runs.push(digit);
    if (digit === '7' && logged.length < 3) throw new Error('the seventh');
    return true;
  });
  await expect.poll(() => new Set(runs).size).toBe(16);
  await expect.poll(() => runs.length).toBe(19);
  expect(logged.map(String)).toEqual(Array(3).fill('Error: the seventh'));
});

test('a process that stops ends its run, and leaves what is not complete to another', async () => {
  const { start } = await someProcesses(2);
  const held = Promise.withResolvers<ShardRun>();
  const first = start(0, async (run) => {
    held.resolve(run);
    while (await run.mayGoOn()) await wait(1);
    return false;
  });
  const { shard } = await held.promise;
  await first.stop();
  const digits: string[] = [];
  start(1, async ({ shard: { digit } }) => {
    digits.push(digit);
    return true;
  });
  await expect.poll(() => digits).toContain(shard.digit);
});

test('a job with a pace begins one shard at a time, and holds no lease in between', async () => {
  const { start } = await someProcesses(2);
  let slow = 0;
  start(0, async () => ++slow > 0, { paceMs: HOUR_MS });
  await expect.poll(() => slow).toBe(1);
  let quick = 0;
  start(1, async () => ++quick > 0);
  await expect.poll(() => quick).toBe(15);
  expect(slow).toBe(1);
});
