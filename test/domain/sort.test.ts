import { expect, test } from 'vitest';
import { sortFirst } from '../../src/domain/sort.ts';

const byRank = (a: { rank: number }, b: { rank: number }) => a.rank - b.rank;

/** Many have the same rank: those stay in their order. */
const items = Array.from({ length: 1_000 }, (_, at) => ({ at, rank: (at * 7_919) % 97 }));

test.each([
  ['in no order', items],
  ['the last first', items.toSorted((a, b) => byRank(b, a))],
  ['the first first', items.toSorted(byRank)],
  ['all equal', items.map(({ at }) => ({ at, rank: 1 }))],
])('the first of a list are those of the sorted list: %s', (_, list) => {
  for (const count of [0, 1, 49, 50, 999, 1_000, 5_000])
    expect(sortFirst(list, byRank, count)).toEqual(list.toSorted(byRank).slice(0, count));
});
