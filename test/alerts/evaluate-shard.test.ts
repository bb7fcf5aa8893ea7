import { expect, onTestFinished, test } from 'vitest';
import { evaluateShard } from '../../src/alerts/evaluate.ts';
import { addDays } from '../../src/domain/instant.ts';
import { allShardRuns } from '../support/shard-runs.ts';
import { openTestStore } from '../support/store.ts';
import { aWorld, reportOf, type Sent } from './world.ts';

/** A domain whose newest day fires an alert that was not evaluated yet. */
async function aDueWorld() {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const world = await aWorld(store);
  const day = (n: number) => addDays('2026-03-01', n);
  for (let n = 0; n <= 7; n++) {
    const sent: Sent = ['192.0.2.1', 1000, n === 7 ? 500 : 990];
    await world.receive([reportOf(world.name, day(n), [sent])], `${day(n + 1)}T06:00:00Z`);
  }
  const logged: unknown[] = [];
  const deps = { ...world.deps, logError: (error: unknown) => void logged.push(error) };
  return { ...world, store, deps, logged };
}

test('the runs on all shards evaluate every domain', async () => {
  const { deps, alerts, logged } = await aDueWorld();
  for (const run of allShardRuns()) expect(await evaluateShard(deps, run)).toBe(true);
  expect(await alerts()).toHaveLength(1);
  expect(logged).toEqual([]);
});

test('an error with a domain is logged, and the run comes to its end', async () => {
  const { deps, logged } = await aDueWorld();
  const now = () => {
    throw new Error('the clock is broken');
  };
  for (const run of allShardRuns()) expect(await evaluateShard({ ...deps, now }, run)).toBe(true);
  expect(logged.map(String)).toEqual([expect.stringMatching(/clock/)]);
});

test('a run that has ended evaluates nothing more, and is not complete', async () => {
  const { deps, alerts } = await aDueWorld();
  const ends = [];
  for (const run of allShardRuns({ steps: 0 })) ends.push(await evaluateShard(deps, run));
  expect(ends.filter((isComplete) => !isComplete)).toHaveLength(1);
  expect(await alerts()).toEqual([]);
});
