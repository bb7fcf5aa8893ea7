import { expect, test } from 'vitest';
import { createQueue, isPassword } from '../../src/domain/access/password.ts';

test('at most two hashes run at a time, in order, and the twenty-third request is rejected', async () => {
  const run = createQueue();
  const release = Promise.withResolvers<void>();
  const started: number[] = [];
  const work = (i: number) => () => {
    started.push(i);
    return release.promise;
  };
  const accepted = Array.from({ length: 22 }, (_, i) => run(work(i)));
  await expect(run(work(22))).rejects.toMatchObject({ code: 'unavailable' });
  expect(started).toEqual([0, 1]);
  release.resolve();
  await Promise.all(accepted);
  expect(started).toEqual(Array.from({ length: 22 }, (_, i) => i));
  await expect(run(async () => 'free again')).resolves.toBe('free again');
});

test('work that fails passes its place to the next', async () => {
  const run = createQueue(1, 1);
  const failing = run(() => Promise.reject(new Error('no memory')));
  const next = run(async () => 'done');
  await expect(failing).rejects.toThrow('no memory');
  await expect(next).resolves.toBe('done');
});

test('three hundred parallel sign-ins do not fill the thread pool', async () => {
  const attempts = Array.from({ length: 300 }, () => isPassword('a wrong password', null));
  const settled = await Promise.allSettled(attempts);
  const refused = settled.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(250);
});
