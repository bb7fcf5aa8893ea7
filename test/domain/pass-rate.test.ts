import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDrop, toDrop, toPassRate } from '../../src/domain/pass-rate.ts';

const counts = fc
  .tuple(
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.double({ min: 0, max: 1, noNaN: true }),
  )
  .map(([messages, share]) => ({ messages, aligned: Math.floor(messages * share) }));

test.each([
  [1, 1, 100],
  [1, 0, 0],
  [3, 2, 66.67],
  [8, 1, 12.5],
  [80_000, 1, 0.01],
  [1_000_000, 1, 0.01],
  [1_000_000, 999_999, 99.99],
  [100_000, 99_995, 99.99],
  [20_000, 13_333, 66.67],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 99.99],
])('of %i messages %i passed: %f', (messages, aligned, rate) => {
  expect(toPassRate({ messages, aligned })).toBe(rate);
});

test('a rate has two decimals at most, and is 100 or 0 for all or none alone', () => {
  fc.assert(
    fc.property(counts, ({ messages, aligned }) => {
      const rate = toPassRate({ messages, aligned });
      expect(Math.abs(rate - (aligned / messages) * 100)).toBeLessThanOrEqual(0.01);
      expect(Number(rate.toFixed(2))).toBe(rate);
      expect([rate === 100, rate === 0]).toEqual([aligned === messages, aligned === 0]);
    }),
  );
});

test('a drop is the difference of the two rates before they are rounded: rounded first, one of 31.38 was 31.37', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      const [was, is] = [before, after].map(({ messages, aligned }) => (aligned / messages) * 100);
      const drop = toDrop(before, after);
      expect(Math.abs(drop - ((was ?? 0) - (is ?? 0)))).toBeLessThanOrEqual(0.005 + 1e-9);
      expect(Number(drop.toFixed(2))).toBe(drop);
      expect(toDrop(after, before) + drop).toBe(0);
    }),
  );
  expect(toDrop({ messages: 10_000, aligned: 9_804 }, { messages: 816, aligned: 544 })).toBe(31.37);
  expect(toDrop({ messages: 100_000, aligned: 98_044 }, { messages: 3, aligned: 2 })).toBe(31.38);
  expect(toDrop({ messages: 3, aligned: 2 }, { messages: 3, aligned: 2 })).toBe(0);
});

test('what counts as a drop of ten points is shown as one', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      if (isDrop(before, after, 10)) expect(toDrop(before, after)).toBeGreaterThanOrEqual(10);
    }),
  );
});
