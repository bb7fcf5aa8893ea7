import { type Day, toDay } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { newVersion } from '../lists/heads.ts';
import { newGapNonce } from '../lists/points.ts';
import { alertList, countItems } from '../lists/timeline.ts';

/** The oldest alerts of a domain leave its list and the account's. Returns how many there were. */
export async function deleteAlerts(
  tx: Tx,
  { accountId, domainId, limit }: { accountId: string; domainId: string; limit: number },
): Promise<number> {
  const alerts = await tx
    .selectFrom('alert')
    .select(['id', 'fired_at', 'account_position', 'domain_position'])
    .where('domain_id', '=', domainId)
    .orderBy('fired_at')
    .limit(limit)
    .execute();
  if (alerts.length === 0) return 0;
  const ids = alerts.map(({ id }) => id);
  await tx.deleteFrom('alert').where('domain_id', '=', domainId).where('id', 'in', ids).execute();
  const days = new Map<Day, number>();
  for (const { fired_at } of alerts)
    days.set(toDay(fired_at), (days.get(toDay(fired_at)) ?? 0) - 1);
  const shorten = (table: 'domain' | 'account', ownerId: string) =>
    shortenList(tx, {
      table,
      ownerId,
      days,
      positions: alerts.map((one) => Number(one[`${table}_position`])),
    });
  // Every transaction locks domains before accounts (decision 64).
  await shorten('domain', domainId);
  await shorten('account', accountId);
  return alerts.length;
}

interface Shortened {
  readonly table: 'domain' | 'account';
  readonly ownerId: string;
  readonly days: ReadonlyMap<Day, number>;
  /** Clients may come back with a cursor before them. */
  readonly positions: readonly number[];
}

async function shortenList(tx: Tx, { table, ownerId, days, positions }: Shortened): Promise<void> {
  await tx
    .updateTable(table)
    .set((eb) => ({
      alerts_total: eb('alerts_total', '-', positions.length),
      alerts_version: newVersion(),
    }))
    .where('id', '=', ownerId)
    .execute();
  const list_id = alertList(ownerId);
  await countItems(tx, list_id, days);
  await tx.deleteFrom('list_day').where('list_id', '=', list_id).where('items', '=', 0).execute();
  const gaps = positions.map((position) => ({ list_id, position, nonce: newGapNonce() }));
  await tx.insertInto('list_gap').values(gaps).execute();
}
