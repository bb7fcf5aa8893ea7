import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { type BoundQuery, runAllPrepared } from '../engine/prepared.ts';

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
  await runAllPrepared(tx, itemUpserts([...items].map(([day, items]) => ({ listId, day, items }))));
}

type ItemsOfDay = { readonly listId: string; readonly day: Day; readonly items: number };

/** Statements that add items to the counts of lists' months and days. A list has a day once. */
export function itemUpserts(days: readonly ItemsOfDay[]): BoundQuery<never>[] {
  return [...dayUpserts(days), ...monthUpserts(toMonths(days))];
}

type ItemsOfMonth = { readonly listId: string; readonly month: string; readonly items: number };

function toMonths(days: readonly ItemsOfDay[]): ItemsOfMonth[] {
  const months = new Map<string, ItemsOfMonth>();
  for (const { listId, day, items } of days) {
    const month = day.slice(0, 7);
    const key = `${listId} ${month}`;
    months.set(key, { listId, month, items: (months.get(key)?.items ?? 0) + items });
  }
  return [...months.values()];
}

const dayUpserts = prepareRows<ItemsOfDay, never>(['listId', 'day', 'items'], (db, rows) =>
  db
    .insertInto('list_day')
    .values(rows.map(({ listId, day, items }) => ({ list_id: listId, day, items })))
    .onConflict((oc) =>
      oc
        .columns(['list_id', 'day'])
        .doUpdateSet((eb) => ({ items: eb('list_day.items', '+', eb.ref('excluded.items')) })),
    ),
);

const monthUpserts = prepareRows<ItemsOfMonth, never>(['listId', 'month', 'items'], (db, rows) =>
  db
    .insertInto('list_month')
    .values(rows.map(({ listId, month, items }) => ({ list_id: listId, month, items })))
    .onConflict((oc) =>
      oc
        .columns(['list_id', 'month'])
        .doUpdateSet((eb) => ({ items: eb('list_month.items', '+', eb.ref('excluded.items')) })),
    ),
);
