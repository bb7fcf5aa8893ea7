import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../connection/database.ts';
import { prepareRows } from '../connection/many-rows.ts';
import { runAllPrepared } from '../connection/prepared.ts';

/*
 * Lists that are ordered by time, newest first, count their items by month and by day. places.ts finds pages
 * with these counts.
 */

export const reportList = (domainId: string) => `reports:${domainId}`;
/** The list of an account or of a domain. */
export const alertList = (ownerId: string) => `alerts:${ownerId}`;

/** Adds items to the counts of a list's months and days. */
export async function countItems(
  tx: Tx,
  listId: string,
  items: ReadonlyMap<Day, number>,
): Promise<void> {
  const months = new Map<string, number>();
  for (const [day, count] of items) {
    const month = day.slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + count);
  }
  await runAllPrepared(tx, [
    ...dayUpserts([...items].map(([day, items]) => ({ listId, day, items }))),
    ...monthUpserts([...months].map(([month, items]) => ({ listId, month, items }))),
  ]);
}

const dayUpserts = prepareRows<{ listId: string; day: Day; items: number }, never>(
  ['listId', 'day', 'items'],
  (db, rows) =>
    db
      .insertInto('list_day')
      .values(rows.map(({ listId, day, items }) => ({ list_id: listId, day, items })))
      .onConflict((oc) =>
        oc
          .columns(['list_id', 'day'])
          .doUpdateSet((eb) => ({ items: eb('list_day.items', '+', eb.ref('excluded.items')) })),
      ),
);

const monthUpserts = prepareRows<{ listId: string; month: string; items: number }, never>(
  ['listId', 'month', 'items'],
  (db, rows) =>
    db
      .insertInto('list_month')
      .values(rows.map(({ listId, month, items }) => ({ list_id: listId, month, items })))
      .onConflict((oc) =>
        oc
          .columns(['list_id', 'month'])
          .doUpdateSet((eb) => ({ items: eb('list_month.items', '+', eb.ref('excluded.items')) })),
      ),
);
