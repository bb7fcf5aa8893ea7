import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFairQueue } from '../../src/intake/parser/fair-queue.ts';

const BUSY = { code: 'unavailable' };

/** A task that is done when the test says so, and what has begun so far. */
function aTask() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  const work = () => {
    hasBegun = true;
    return promise;
  };
  return { work, finish: resolve, begun: () => hasBegun };
}

test('readings are done one after another, in their order', async () => {
  const take = createFairQueue();
  const [first, second] = [aTask(), aTask()];
  const done = [take('a', first.work), take('b', second.work)];
  await setTimeout();
  expect([first.begun(), second.begun()]).toEqual([true, false]);
  first.finish();
  await done[0];
  await setTimeout();
  expect(second.begun()).toBe(true);
  second.finish();
  await done[1];
});

test('a reading that fails passes its turn on', async () => {
  const take = createFairQueue();
  const failing = take('a', () => Promise.reject(new Error('broken')));
  const next = take('a', async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

test('a person has four at a time, and all people together a few', async () => {
  const take = createFairQueue();
  const task = aTask();
  const own = Array.from({ length: 4 }, () => take('a', task.work));
  await expect(take('a', task.work)).rejects.toMatchObject(BUSY);
  const others = Array.from({ length: 13 }, (_, i) => take(`b${i}`, task.work));
  await expect(take('c', task.work)).rejects.toMatchObject(BUSY);
  task.finish();
  await Promise.all([...own, ...others]);
  expect(await take('a', async () => 'free again')).toBe('free again');
});

test('a turn that does not come in time is given up, and those behind it keep theirs', async () => {
  const take = createFairQueue(20);
  const task = aTask();
  const slow = take('a', task.work);
  await expect(take('b', async () => 'never')).rejects.toMatchObject(BUSY);
  const next = take('c', async () => 'done');
  task.finish();
  await slow;
  expect(await next).toBe('done');
});
