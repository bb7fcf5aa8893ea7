import { LRUCache } from 'lru-cache';
import { type Day, END_OF_TIME, type Instant, toDay } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
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

/** Items that came or, with -1, that went, by their instants. A day without items has no row. */
export async function countItems(
  tx: Tx,
  listId: string,
  { instants, by }: { readonly instants: readonly Instant[]; readonly by: 1 | -1 },
): Promise<void> {
  await runAllPrepared(tx, itemUpserts(toItemsOfDays(listId, instants, by)));
  if (by === -1) await deleteEmptyDays(tx, listId);
}

export function toItemsOfDays(listId: string, instants: readonly Instant[], by = 1): ItemsOfDay[] {
  const days = Map.groupBy(instants, toDay);
  return [...days].map(([day, { length }]) => ({ listId, day, items: by * length }));
}

type ItemsOfDay = { readonly listId: string; readonly day: Day; readonly items: number };

/** The rows must have each list and day only once. */
export const itemUpserts = prepareRows(
  ['listId', 'day', 'items'],
  (db, rows: readonly RowOf<ItemsOfDay>[]) =>
    db
      .insertInto('list_day')
      .values(rows.map(({ listId, day, items }) => ({ list_id: listId, day, items })))
      .onConflict((oc) =>
        oc
          .columns(['list_id', 'day'])
          .doUpdateSet((eb) => ({ items: eb('list_day.items', '+', eb.ref('excluded.items')) })),
      ),
);

async function deleteEmptyDays(tx: Tx, listId: string): Promise<void> {
  await tx.deleteFrom('list_day').where('list_id', '=', listId).where('items', '<=', 0).execute();
}

export type PageStart = {
  /** The latest instant that can be on the page. */
  readonly until: string;
  /** How many items from that instant on come before the page. */
  readonly skip: number;
};

/** Where the page at an offset below the list's total begins. The version is that of the snapshot that is read. */
export function* findPageStart(
  { id, version }: { readonly id: string; readonly version: string },
  offset: number,
): Plan<PageStart> {
  if (offset === 0) return { until: END_OF_TIME, skip: 0 };
  const days = counted.get(version) ?? countBefore(yield* ask(daysOf({ id })));
  counted.set(version, days);
  const found = days.find(({ before, items }) => before + items > offset);
  if (found === undefined) throw new Error('The counts of a list are less than its total.');
  return { until: `${found.day}T23:59:59Z`, skip: offset - found.before };
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
 * The days of lists, by the list's version: reading three years of them takes 0.5 ms. A version is random and never
 * used again, so it stands for one state of one list, whichever database it is in.
 */
const counted = new LRUCache<string, readonly CountedDay[]>({
  maxSize: MAX_DAYS,
  sizeCalculation: (days) => days.length + 1,
});

/** A domain's list of reports has the domain's days; other lists have their own. No list has both. */
const daysOf = prepareQuery((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('domain_day')
    .select(({ fn }) => ['day', fn.sum<number>('reports').as('items')])
    .where('domain_id', '=', param('id'))
    .groupBy('day')
    .unionAll((eb) =>
      eb.selectFrom('list_day').select(['day', 'items']).where('list_id', '=', param('id')),
    )
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
