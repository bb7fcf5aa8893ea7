import { LRUCache } from 'lru-cache';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';

/*
 * Where pages begin. The cost of `offset` grows with the number of skipped rows. So lists that are ordered by
 * time count their items by month and by day (timeline.ts): a page's month is found first, then its day, and
 * rows are skipped only inside that day.
 */

/** A list in one state: the version that its head has in the snapshot that is read. */
export interface VersionedList {
  readonly id: string;
  readonly version: string;
}

export type Place = {
  /** The latest instant that can be on the page. */
  readonly until: string;
  /** How many items from that instant on come before the page. */
  readonly skip: number;
};

interface Period {
  /** A month or a day. */
  readonly period: string;
  readonly items: number;
}

/** A period, and how many items of the list come before it. */
interface Passed extends Period {
  readonly passed: number;
}

/** Later than every instant. */
export const END_OF_TIME = '9999-12-31T23:59:59Z';
/** Of all lists together, about 3 MB. */
const MAX_PERIODS = 20_000;

/**
 * What was counted, by the list's version. A version is random and never used again, so it stands for one
 * state of one list, whichever database it is in.
 */
const counted = new LRUCache<string, readonly Passed[]>({
  maxSize: MAX_PERIODS,
  sizeCalculation: (periods) => periods.length + 1,
});

/** Where the page at an offset below the list's total begins. */
export function* findPlace({ id, version }: VersionedList, offset: number): Plan<Place> {
  if (offset === 0) return { until: END_OF_TIME, skip: 0 };
  const months = yield* readPeriods(version, monthsOf({ id }), 0);
  const month = findPeriod(months, offset);
  const [first, last] = [`${month.period}-01`, `${month.period}-31`];
  const days = yield* readPeriods(`${version} ${first}`, daysOf({ id, first, last }), month.passed);
  const { period: day, passed } = findPeriod(days, offset);
  return { until: `${day}T23:59:59Z`, skip: offset - passed };
}

function* readPeriods(
  key: string,
  query: ReturnType<typeof monthsOf>,
  before: number,
): Plan<readonly Passed[]> {
  const known = counted.get(key);
  if (known !== undefined) return known;
  let passed = before;
  const periods = (yield* ask(query)).map(({ period, items }) => {
    const placed = { period, items, passed };
    passed += items;
    return placed;
  });
  counted.set(key, periods);
  return periods;
}

function findPeriod(periods: readonly Passed[], offset: number): Passed {
  const found = periods.find(({ items, passed }) => passed + items > offset);
  if (found === undefined) throw new Error('The counts of a list are less than its total.');
  return found;
}

const monthsOf = prepareQuery<{ id: string }, Period>((db, param) =>
  db
    .selectFrom('list_month')
    .select(['month as period', 'items'])
    .where('list_id', '=', param('id'))
    .orderBy('month', 'desc'),
);

const daysOf = prepareQuery<{ id: string; first: string; last: string }, Period>((db, param) =>
  db
    .selectFrom('list_day')
    .select(['day as period', 'items'])
    .where('list_id', '=', param('id'))
    .where('day', '>=', param('first'))
    .where('day', '<=', param('last'))
    .orderBy('day', 'desc'),
);
