import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Patience } from '../../../src/http/counters/patience.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => {});

/** Runs `work` as a request does. */
function asRequest(patience: Patience, work: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const listener = patience.bound(() => void work().then(resolve, reject));
    listener(...([{}, {}] as unknown as Parameters<typeof listener>));
  });
}

test('all waits of one request together use one budget', async () => {
  const patience = new Patience(5);
  const waited = asRequest(patience, async () => {
    await patience.wait(after(3));
    await patience.wait(after(3));
  });
  const refused = expect(waited).rejects.toThrow('no answer in time');
  await vi.advanceTimersByTimeAsync(100);
  await refused;
});

test('another request has a budget of its own', async () => {
  const patience = new Patience(5);
  const waits = Promise.all(
    [1, 2].map(() => asRequest(patience, async () => await patience.wait(after(3)))),
  );
  await vi.advanceTimersByTimeAsync(100);
  await waits;
});

test('a wait that is given a budget of its own does not use the request’s', async () => {
  const patience = new Patience(5);
  const waited = asRequest(patience, async () => {
    await patience.wait(after(3));
    await patience.wait(after(3), patience.newBudget());
  });
  await vi.advanceTimersByTimeAsync(100);
  await waited;
});

test('nothing runs while nobody waits', async () => {
  const patience = new Patience(5);
  await patience.wait(Promise.resolve());
  const refused = expect(patience.wait(never())).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(100);
  await refused;
  expect(vi.getTimerCount()).toBe(0);
});

/** Answers after this many ticks of 10 ms. */
function after(ticks: number): Promise<void> {
  return new Promise((resolve) => {
    let left = ticks;
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      resolve();
    }, 10);
  });
}
