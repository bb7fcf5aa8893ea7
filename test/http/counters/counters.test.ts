import type { Options } from 'express-rate-limit';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Counters, type LimitedClient } from '../../../src/http/counters/counters.ts';

const TIME_LIMIT_MS = 100;
const RETRY_MS = 2_000;
const LOST = 'limits are counted in this process alone, without Redis';
const BACK = 'limits are counted by Redis again';

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: [...TIMERS] }));
afterEach(() => void vi.useRealTimers());

/** Counts beside a counter that can fail and that can be silent. */
async function counters({ isBroken = false, answer = async () => {} } = {}) {
  const state = { isBroken, isSilent: false, opened: 0, asked: 0, hits: 0 };
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const count = async ({ limit }: LimitedClient, change: 1 | -1) => {
    if (state.isBroken) throw new Error('broken');
    await answer();
    if (state.isSilent) await new Promise(() => {});
    if (limit !== 'any') return { totalHits: 1, resetTime: undefined };
    state.asked += 1;
    state.hits += change;
    return { totalHits: state.hits, resetTime: new Date(Date.now() + 60_000) };
  };
  const shared = new Counters(log, () => ({
    open: async () => {
      state.opened += 1;
    },
    increment: (client) => count(client, 1),
    decrement: (client) => count(client, -1),
    close: () => {},
  }));
  await shared.connect();
  const store = shared.createStore('any');
  void store.init?.({ windowMs: 60_000 } as Options);
  const hit = async () => (await store.increment('a')).totalHits;
  return { state, shared, store, logged, hit };
}

describe('a hit', () => {
  test('that the shared counter fails to count is counted alone, with those before it', async () => {
    const { state, hit } = await counters();
    await hit();
    state.isBroken = true;
    expect([await hit(), await hit(), state.hits]).toEqual([2, 3, 1]);
  });

  test('waits for a silent counter as long as the time limit, and those after it do not wait', async () => {
    const { state, hit } = await counters();
    state.isSilent = true;
    let info: number | undefined;
    void hit().then((totalHits) => {
      info = totalHits;
    });
    await vi.advanceTimersByTimeAsync(TIME_LIMIT_MS - 10);
    expect(info).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10);
    expect(info).toBe(1);
    expect([await hit(), await hit()]).toEqual([2, 3]);
  });

  test('has a count of its own among hits that are counted alone at the same time', async () => {
    const { state, store } = await counters();
    state.isBroken = true;
    const twice = async () => {
      await store.increment('a');
      return (await store.increment('b')).totalHits;
    };
    const counts = await Promise.all(Array.from({ length: 50 }, twice));
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  test('whose answer this process was too busy to read is not late', async () => {
    vi.useRealTimers();
    // As an answer that is read after timers have run.
    const answer = () => new Promise<void>((resolve) => setImmediate(resolve));
    const { hit, logged } = await counters({ answer });
    const counted = hit();
    const until = performance.now() + 3 * TIME_LIMIT_MS;
    while (performance.now() < until);
    expect([await counted, logged]).toEqual([1, []]);
  });
});

describe('a hit that need not count', () => {
  test('is subtracted from the shared counter and from what is counted alone', async () => {
    const { state, store, hit } = await counters();
    await hit();
    await hit();
    await store.decrement('a');
    expect(state.hits).toBe(1);
    state.isBroken = true;
    expect(await hit()).toBe(2);
  });

  test('rejects nothing when the counter fails, and is not below zero', async () => {
    const { state, store, hit } = await counters();
    await hit();
    state.isBroken = true;
    for (let i = 0; i < 3; i++) await store.decrement('a');
    expect([state.hits, await hit()]).toEqual([1, 1]);
  });
});

describe('the shared counter', () => {
  test('counts again by itself after it failed; each change is said once', async () => {
    const { state, shared, logged, hit } = await counters();
    state.isBroken = true;
    await Promise.all([hit(), hit(), hit()]);
    expect(shared.isShared()).toBe(false);
    await vi.advanceTimersByTimeAsync(3 * RETRY_MS);
    state.isBroken = false;
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(shared.isShared()).toBe(true);
    expect(await hit()).toBe(1);
    expect([state.opened, logged]).toEqual([5, [LOST, BACK]]);
  });

  test('is not asked while it is away, also when that is so from the start', async () => {
    const { state, shared, logged, hit } = await counters({ isBroken: true });
    state.isBroken = false;
    expect([await hit(), await hit(), state.asked]).toEqual([1, 2, 0]);
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(shared.isShared()).toBe(true);
    expect(logged).toEqual([LOST, BACK]);
  });

  test('is not opened again after the process has stopped', async () => {
    const { state, shared, hit } = await counters();
    state.isBroken = true;
    await hit();
    shared.close();
    await vi.advanceTimersByTimeAsync(3 * RETRY_MS);
    expect(state.opened).toBe(1);
  });
});
