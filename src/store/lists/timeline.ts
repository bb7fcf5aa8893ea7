import { LRUCache } from 'lru-cache';
import {
  BEGIN_OF_TIME,
  type Day,
  type DayRange,
  END_OF_TIME,
  type Instant,
  toDay,
} from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type BoundQuery, type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';

/*
 * Lists that are ordered by time, newest first, count their items by day. The cost of `offset` grows with the skipped
 * rows, so these counts find the day on which a page begins, and rows are skipped only inside that day.
 */

/** The id of the list of a domain's reports is the domain's. */
export const reportList = (domainId: string) => domainId;
/** The id of a list of alerts has `a` where all other ids have their version, `4` (RFC 9562). */
export const alertList = (ownerId: string) => `${ownerId.slice(0, 14)}a${ownerId.slice(15)}`;
/** The id of the reports of an account has `b` there. */
export const accountReportList = (accountId: string) =>
  `${accountId.slice(0, 14)}b${accountId.slice(15)}`;

/** The id of a domain's TLS reports has `c` there. */
export const tlsList = (domainId: string) => `${domainId.slice(0, 14)}c${domainId.slice(15)}`;

/** An item of a list by its instant, and the parts of the list that it is in, besides the whole. */
export interface CountedItem {
  readonly at: Instant;
  readonly parts?: readonly number[];
}

/** Items that came or, with -1, that went. A day without items has no row. */
export async function countItems(
  tx: Tx,
  listId: string,
  { items, by }: { readonly items: readonly CountedItem[]; readonly by: 1 | -1 },
): Promise<void> {
  const days = toItemsOfDays(listId, items, { by });
  await runAllPrepared(tx, itemUpserts(days));
  if (by === -1) await runAllPrepared(tx, days.map(emptyDayDeletion));
}

/** The whole of a list, and what is not of some days. */
const WHOLE = { part: 0, from: toDay(BEGIN_OF_TIME), to: toDay(END_OF_TIME) };

export function toItemsOfDays(
  list_id: string,
  items: readonly CountedItem[],
  { by = 1 } = {},
): ItemsOfDay[] {
  const days = new Map<string, ItemsOfDay>();
  for (const { at, parts = [] } of items)
    for (const part of [WHOLE.part, ...parts]) {
      const day = toDay(at);
      const { items = 0 } = days.get(`${part} ${day}`) ?? {};
      days.set(`${part} ${day}`, { list_id, part, day, items: items + by });
    }
  return [...days.values()];
}

type ItemsOfDay = {
  readonly list_id: string;
  readonly part: number;
  readonly day: Day;
  readonly items: number;
};

/** The rows must have each list, part and day only once. */
export const itemUpserts = prepareRows(
  ['list_id', 'part', 'day', 'items'],
  (db, rows: readonly RowOf<ItemsOfDay>[]) =>
    db
      .insertInto('list_day')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['list_id', 'part', 'day']).doUpdateSet((eb) => ({
          items: eb('list_day.items', '+', eb.ref('excluded.items')),
        })),
      ),
);

const emptyDayDeletion = prepareQuery((db, param: Param<ItemsOfDay>) =>
  db
    .deleteFrom('list_day')
    .where('list_id', '=', param('list_id'))
    .where('part', '=', param('part'))
    .where('day', '=', param('day'))
    .where('items', '<=', 0),
);

export type PageStart = {
  /** The latest instant that can be on the page. */
  readonly until: string;
  /** How many items from that instant on come before the page. */
  readonly skip: number;
};

/** Where the page at an offset below the list's total begins. The version is that of the snapshot that is read. */
export function* findPageStart({ query, version }: DaysOfVersion, offset: number): Plan<PageStart> {
  if (offset === 0) return { until: END_OF_TIME, skip: 0 };
  const days = yield* readDays({ query, version });
  const found = days.find(({ before, items }) => before + items > offset);
  if (found === undefined) throw new Error('The counts of a list are less than its total.');
  return { until: `${found.day}T23:59:59Z`, skip: offset - found.before };
}

/** How many items a list has on its days. */
export function* sumDays(of: DaysOfVersion): Plan<number> {
  const last = (yield* readDays(of)).at(-1);
  return last === undefined ? 0 : last.before + last.items;
}

/** Days, and what no other state of their list has: its id and its version. */
interface DaysOfVersion {
  readonly query: ListDaysQuery;
  readonly version: string;
}

function* readDays({ query, version }: DaysOfVersion): Plan<readonly CountedDay[]> {
  const days = counted.get(version) ?? countBefore(yield* ask(query));
  counted.set(version, days);
  return days;
}

interface CountedDay {
  readonly day: Day;
  readonly items: number;
  /** How many items of the list come before the day's. */
  readonly before: number;
}

/** All lists together have so many, about 8 MB. */
const MAX_DAYS = 100_000;

/**
 * The days of lists, by the list and its version: reading three years of them takes 0.5 ms. A version is random and never
 * used again, so it stands for one state of one list, whichever database it is in.
 */
const counted = new LRUCache<string, readonly CountedDay[]>({
  maxSize: MAX_DAYS,
  sizeCalculation: (days) => days.length + 1,
});

export type ListDaysQuery = BoundQuery<{ readonly day: Day; readonly items: number }>;

/** The days of a list that has its own; all of them unless others are given. */
export const listDaysOf = (list_id: string, wanted: Partial<typeof WHOLE> = {}): ListDaysQuery =>
  listDays({ list_id, ...WHOLE, ...wanted });

/** The days of a domain's list of reports. */
export const reportDaysOf = (domainId: string, wanted: Partial<DayRange> = {}): ListDaysQuery =>
  domainDays({ domainId, ...WHOLE, ...wanted });

const listDays = prepareQuery((db, param: Param<typeof WHOLE & { list_id: string }>) =>
  db
    .selectFrom('list_day')
    .select(['day', 'items'])
    .where('list_id', '=', param('list_id'))
    .where('part', '=', param('part'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day', 'desc'),
);

const domainDays = prepareQuery((db, param: Param<{ domainId: string; from: Day; to: Day }>) =>
  db
    .selectFrom('domain_day')
    .select(({ fn }) => ['day', fn.sum<number>('reports').as('items')])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .groupBy('day')
    .orderBy('day', 'desc'),
);

function countBefore(days: readonly { day: Day; items: number }[]): CountedDay[] {
  let passed = 0;
  return days.map(({ day, items }) => {
    const before = passed;
    passed += items;
    return { day, items, before };
  });
}
