import { type Expression, type Kysely, sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../connection/database.ts';
import { prepareQuery, runPrepared } from '../connection/prepared.ts';
import type { Tables } from '../tables.ts';

/*
 * Lists that are ordered by time, newest first, count their items by month and by day. The cost of `offset`
 * grows with the number of skipped rows. So the query finds the month, then the day within it, and skips rows
 * only inside that day.
 */

export const reportList = (domainId: string) => `reports:${domainId}`;
/** The list of an account or of a domain. */
export const alertList = (ownerId: string) => `alerts:${ownerId}`;

interface PageStart {
  /** The latest instant that can be on the page. */
  until: string;
  /** How many items from that instant on come before the page. */
  skip: number;
}

/**
 * A query that begins with `page_start`: one row that says where the page at `offset` starts; no row after
 * the end of the list. It is part of the page's own statement, and so of its snapshot.
 */
export function withPageStart(
  db: Kysely<Tables>,
  list: Expression<string>,
  offset: Expression<number>,
) {
  const month = sql<{ month: string; passed: number }>`(
    select month, passed from (
      select month, items, sum(items) over (order by month desc) - items as passed
      from list_month where list_id = ${list}) as months
    where passed + items > ${offset} order by month desc limit 1)`;
  const day = sql<PageStart>`(
    select day || 'T23:59:59Z' as until, ${offset} - passed as skip from (
      select day, items,
        (select passed from page_month) + sum(items) over (order by day desc) - items as passed
      from list_day
      where list_id = ${list}
        and day >= (select month || '-01' from page_month)
        and day <= (select month || '-31' from page_month)) as days
    where passed + items > ${offset} order by day desc limit 1)`;
  return db
    .with(
      (cte) => cte('page_month').materialized(),
      () => month,
    )
    .with(
      (cte) => cte('page_start').materialized(),
      () => day,
    );
}

/** Scalars of `page_start`, for the page's own `where` and `offset`. */
export const pageUntil = sql<string>`(select until from page_start)`;
export const pageSkip = sql<number>`coalesce((select skip from page_start), 0)`;

/** Adds items to the counts of a list's months and days. */
export async function countItems(
  tx: Tx,
  listId: string,
  items: ReadonlyMap<Day, number>,
): Promise<void> {
  for (const [day, count] of items) {
    await runPrepared(tx, dayUpsert({ listId, day, items: count }));
    await runPrepared(tx, monthUpsert({ listId, month: day.slice(0, 7), items: count }));
  }
}

const dayUpsert = prepareQuery<{ listId: string; day: Day; items: number }, never>((db, param) =>
  db
    .insertInto('list_day')
    .values({ list_id: param('listId'), day: param('day'), items: param('items') })
    .onConflict((oc) =>
      oc
        .columns(['list_id', 'day'])
        .doUpdateSet((eb) => ({ items: eb('list_day.items', '+', eb.ref('excluded.items')) })),
    ),
);

const monthUpsert = prepareQuery<{ listId: string; month: string; items: number }, never>(
  (db, param) =>
    db
      .insertInto('list_month')
      .values({ list_id: param('listId'), month: param('month'), items: param('items') })
      .onConflict((oc) =>
        oc
          .columns(['list_id', 'month'])
          .doUpdateSet((eb) => ({ items: eb('list_month.items', '+', eb.ref('excluded.items')) })),
      ),
);
