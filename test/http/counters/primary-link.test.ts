import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Batch } from '../../../src/http/counters/messages.ts';
import { serveCounters } from '../../../src/http/counters/primary.ts';
import type { Channel } from '../../../src/http/counters/primary-link.ts';
import { countInPrimary } from '../../../src/http/counters/worker.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

let limits = 0;

/** A worker whose messages reach the primary's side of this process, or nobody. */
function aWorker({ isServed = true } = {}) {
  const [worker, primary] = [new EventEmitter(), new EventEmitter()];
  const sent: Batch[] = [];
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const channel = Object.assign(worker, {
    send: (message: Batch, done: (error: Error | null) => void) => {
      sent.push(message);
      done(null);
      setImmediate(() => primary.emit('message', message));
    },
  });
  const serve = () =>
    serveCounters(
      Object.assign(primary, {
        send: (message: unknown) => setImmediate(() => worker.emit('message', message)),
      }) as unknown as Parameters<typeof serveCounters>[0],
    );
  if (isServed) serve();
  const counters = countInPrimary(log, channel as unknown as Channel);
  limits += 1;
  const store = counters.createStore(`limit-${limits}`);
  void store.init?.({ windowMs: 60_000 } as Parameters<NonNullable<typeof store.init>>[0]);
  const hit = async () => (await store.increment('a')).totalHits;
  return { store, sent, logged, serve, hit, counters, worker };
}

test('what a worker counts in one turn of the event loop is one message', async () => {
  const { sent, hit } = aWorker();
  expect(await Promise.all([hit(), hit(), hit()])).toEqual([1, 2, 3]);
  expect(sent.map(({ hits }) => hits.length)).toEqual([3]);
});

test('a hit that need not count is subtracted in the primary', async () => {
  const { store, hit } = aWorker();
  await Promise.all([hit(), hit()]);
  await store.decrement('a');
  expect(await hit()).toBe(2);
});

test('a primary that does not answer is said once, and from then on nobody waits for it', async () => {
  const { sent, logged, hit } = aWorker({ isServed: false });
  const first = hit();
  await turn();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await first).toBe(1);
  expect([await hit(), await hit()]).toEqual([2, 3]);
  expect(sent.flatMap(({ hits }) => hits)).toHaveLength(1);
  expect(logged).toEqual(['limits are counted in this process alone, without the primary process']);
});

test('a primary that answers again counts again', async () => {
  const { logged, hit, serve } = aWorker({ isServed: false });
  const first = hit();
  await turn();
  await vi.advanceTimersByTimeAsync(2_000);
  await first;
  serve();
  await vi.advanceTimersByTimeAsync(1_000);
  for (let i = 0; i < 5; i++) await turn();
  expect(logged.at(-1)).toBe('limits are counted by the primary process again');
  // The one that was counted alone still counts.
  expect(await hit()).toBe(2);
});

test('at most 10,000 hits wait for the primary; those above are counted alone', async () => {
  const { sent, hit } = aWorker();
  const hits = await Promise.all(Array.from({ length: 10_005 }, hit));
  expect(sent.flatMap((batch) => batch.hits)).toHaveLength(10_000);
  expect(hits.slice(-5)).toEqual([1, 2, 3, 4, 5]);
});

test('a worker that has stopped listens no more', () => {
  const { counters, worker } = aWorker();
  counters.close();
  expect(worker.listenerCount('message')).toBe(0);
});
