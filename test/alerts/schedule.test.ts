import { expect, onTestFinished, test } from 'vitest';
import { scheduleAlerts } from '../../src/alerts/schedule.ts';
import { addDays } from '../../src/domain/instant.ts';
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
  const given = { ...world.given, logError: (error: unknown) => void logged.push(error) };
  const untilFired = async () => {
    while ((await world.alerts()).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { ...world, store, given, logged, untilFired };
}

test('every hour all domains are evaluated', async () => {
  const { given, untilFired, logged } = await aDueWorld();
  const schedule = scheduleAlerts({ ...given, everyMs: 20 });
  await untilFired();
  await schedule.stop();
  expect(logged).toEqual([]);
});

test('an error is logged, and the next round runs', async () => {
  const { given, untilFired, logged, store } = await aDueWorld();
  let isBroken = true;
  const now = () => {
    if (isBroken) throw new Error('the clock is broken');
    return given.now();
  };
  const schedule = scheduleAlerts({ ...given, store, now, everyMs: 20 });
  while (logged.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  isBroken = false;
  await untilFired();
  await schedule.stop();
  expect(String(logged[0])).toMatch(/clock/);
});

test('nothing starts after it was stopped', async () => {
  const { given, alerts } = await aDueWorld();
  const schedule = scheduleAlerts({ ...given, everyMs: 20 });
  await schedule.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await alerts()).toEqual([]);
});
