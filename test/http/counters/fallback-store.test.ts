import { describe, expect, test } from 'vitest';
import { FallbackStore, type SharedCounts } from '../../../src/http/counters/fallback-store.ts';

/** A store beside a shared counter that can be away, and that can fail. */
function aStore() {
  const state = { isShared: true, isBroken: false, hits: 0 };
  const count = async (change: number) => {
    if (state.isBroken) throw new Error('broken');
    state.hits += change;
    return { totalHits: state.hits, resetTime: new Date(Date.now() + 60_000) };
  };
  const shared: SharedCounts = {
    isShared: () => state.isShared,
    add: () => count(1),
    subtract: () => count(-1),
  };
  const store = new FallbackStore('any', shared);
  store.init({ windowMs: 60_000 });
  const hit = async () => (await store.increment('a')).totalHits;
  return { state, store, hit };
}

describe('a hit', () => {
  test('that the shared counter fails to count is counted alone', async () => {
    const { state, hit } = aStore();
    await hit();
    state.isBroken = true;
    expect([await hit(), await hit(), state.hits]).toEqual([2, 3, 1]);
  });
});

describe('a hit that need not count', () => {
  test('is subtracted from the shared counter when it was counted there', async () => {
    const { state, store, hit } = aStore();
    await hit();
    await store.decrement('a');
    expect(state.hits).toBe(0);
  });

  test('is not subtracted from the shared counter when it was counted alone', async () => {
    const { state, store, hit } = aStore();
    await hit();
    state.isShared = false;
    await hit();
    state.isShared = true;
    await store.decrement('a');
    expect([state.hits, await hit()]).toEqual([1, 2]);
  });

  test.each(['isShared', 'isBroken'] as const)(
    'rejects nothing when the counter is away (%s)',
    async (name) => {
      const { state, store, hit } = aStore();
      await hit();
      await hit();
      state[name] = name === 'isBroken';
      await store.decrement('a');
      expect([state.hits, await hit()]).toEqual([2, 2]);
    },
  );
});
