import { EventEmitter } from 'node:events';
import type { Options } from 'express-rate-limit';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Channel, countInPrimary, serveCounters } from '../../../src/http/counters/primary.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const LOST = 'limits are counted in this process alone, without the primary process';
const BACK = 'limits are counted by the primary process again';
/** The time limit of a count, and then the time until the next attempt. */
const [TIME_LIMIT_MS, RETRY_MS] = [2_000, 2_000];

interface Message {
  readonly hits: readonly unknown[];
}

let limits = 0;

/** A worker whose messages reach the primary's side of this process, while that answers. */
async function aWorker() {
  const [worker, primary] = [new EventEmitter(), new EventEmitter()];
  const state = { isAnswering: true };
  const sent: Message[] = [];
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const channel = Object.assign(worker, {
    send: (message: Message, done: () => void) => {
      sent.push(message);
      done();
      if (state.isAnswering) setImmediate(() => primary.emit('message', message));
    },
  });
  const send = (message: unknown) => setImmediate(() => worker.emit('message', message));
  serveCounters(Object.assign(primary, { send }) as unknown as Channel);
  const counters = await countInPrimary(channel as unknown as Channel, log);
  sent.length = 0;
  limits += 1;
  const store = counters.createStore(`limit-${limits}`);
  void store.init?.({ windowMs: 60_000 } as Options);
  const hit = async () => (await store.increment('a')).totalHits;
  return { state, store, sent, logged, hit, counters, worker };
}

test('what a worker counts in one iteration of the event loop is one message', async () => {
  const { sent, hit } = await aWorker();
  expect(await Promise.all([hit(), hit(), hit()])).toEqual([1, 2, 3]);
  expect(sent.map(({ hits }) => hits.length)).toEqual([3]);
});

test('a hit that need not count is subtracted in the primary', async () => {
  const { store, hit } = await aWorker();
  await Promise.all([hit(), hit()]);
  await store.decrement('a');
  expect(await hit()).toBe(2);
});

test('10,000 hits at the same time each get a count of their own', async () => {
  const { hit, logged } = await aWorker();
  const hits = await Promise.all(Array.from({ length: 10_000 }, hit));
  expect(hits.sort((a, b) => a - b)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
  expect(logged).toEqual([]);
});

test('a primary that does not answer is said once, and from then on nobody waits for it', async () => {
  const { state, sent, logged, hit } = await aWorker();
  state.isAnswering = false;
  const first = hit();
  await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(TIME_LIMIT_MS);
  expect(await first).toBe(1);
  expect([await hit(), await hit()]).toEqual([2, 3]);
  expect(sent.flatMap(({ hits }) => hits)).toHaveLength(1);
  expect(logged).toEqual([LOST]);
});

test('a primary that answers again counts again', async () => {
  const { state, logged, hit, counters } = await aWorker();
  state.isAnswering = false;
  const first = hit();
  await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(TIME_LIMIT_MS);
  await first;
  state.isAnswering = true;
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  for (let i = 0; i < 30; i++) await new Promise(setImmediate);
  expect(counters.isShared()).toBe(true);
  expect(logged).toEqual([LOST, BACK]);
  expect(await hit()).toBe(1);
});

test('a worker that has stopped listens no more', async () => {
  const { counters, worker } = await aWorker();
  expect(worker.listenerCount('message')).toBe(1);
  counters.close();
  expect(worker.listenerCount('message')).toBe(0);
});
