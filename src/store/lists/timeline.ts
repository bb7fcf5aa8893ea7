import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../connection/database.ts';
import { prepareQuery, runAllPrepared } from '../connection/prepared.ts';

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
    ...[...items].map(([day, items]) => dayUpsert({ listId, day, items })),
    ...[...months].map(([month, items]) => monthUpsert({ listId, month, items })),
  ]);
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
