import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDrop, toDrop, toPassRate } from '../../../src/domain/alerts/rate.ts';

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

test('a drop is the difference of the two rates as they are shown', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      const shown = toPassRate(before) - toPassRate(after);
      expect(toDrop(before, after).toFixed(2)).toBe((Math.round(shown * 100) / 100).toFixed(2));
    }),
  );
  // Was 31.38: each of the three figures was rounded by itself.
  expect(toDrop({ messages: 10_000, aligned: 9_804 }, { messages: 816, aligned: 544 })).toBe(31.37);
});

test('what counts as a drop of ten points is shown as one, unless less than one in 20,000 failed before', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      if (isDrop(before, after, 10) && toPassRate(before) !== 99.99)
        expect(toDrop(before, after)).toBeGreaterThanOrEqual(10);
    }),
  );
});
