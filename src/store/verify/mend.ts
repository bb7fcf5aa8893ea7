import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { Belief } from '../../domain/reports/authentication.ts';
import { recountDays } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { type Difference, toLists } from './figures.ts';

/* Stored figures become what the rows say that they count. */

/** What has figures: a row of a domain or of an account. */
export interface FigureOwner {
  readonly table: 'domain' | 'account';
  readonly id: string;
  /** For messages. */
  readonly of: string;
}

export async function lockOwner(tx: Tx, { table, id }: FigureOwner): Promise<void> {
  await tx
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .$call(dialectOf(tx).locked)
    .execute();
}

export async function mend(
  tx: Tx,
  owner: FigureOwner,
  wrong: readonly Difference[],
): Promise<void> {
  const days = wrong.flatMap(({ table, at }) => {
    const [day, belief] = (at ?? '').split(' ') as [Day, Belief];
    return table === 'domain_day' ? { domainId: owner.id, day, belief } : [];
  });
  await recountDays(tx, days);
  for (const one of wrong)
    if (one.table === owner.table) await mendHead(tx, owner, one);
    else if (one.table.startsWith('list_day')) await mendListDay(tx, owner, one);
}
async function mendHead(
  tx: Tx,
  { table, id }: FigureOwner,
  { figure, right }: Difference,
): Promise<void> {
  // All reports of the domain are looked at (reports/listing.ts).
  const change =
    figure === 'is_listed' ? sql`listing_from = 0` : sql`${sql.ref(figure)} = ${right}`;
  await sql`update ${sql.table(table)} set ${change} where id = ${id}`.execute(tx);
}

async function mendListDay(
  tx: Tx,
  { id }: FigureOwner,
  { table, at, right }: Difference,
): Promise<void> {
  const list_id = toLists(id)[table.endsWith('alerts') ? 'alerts' : 'reports'];
  const [day = '', text = '0'] = (at ?? '').split(' ');
  const place = { list_id, part: Number(text), day };
  const row = tx.deleteFrom('list_day').where(({ and }) => and(place));
  await row.execute();
  if (right === null) return;
  await tx
    .insertInto('list_day')
    .values({ ...place, items: Number(right) })
    .execute();
}

/** Kept pages are wrong. */
export async function touchOwner(tx: Tx, { table, id }: FigureOwner): Promise<void> {
  const versions = {
    ...{ alerts_version: newVersion(), reports_version: newVersion() },
    tls_version: newVersion(),
  };
  if (table === 'account') {
    await tx.updateTable('account').set(versions).where('id', '=', id).execute();
    await touchDomainList(tx, id);
    return;
  }
  const { account_id, status } = await tx
    .updateTable('domain')
    .set(versions)
    .where('id', '=', id)
    .returning(['account_id', 'status'])
    .executeTakeFirstOrThrow();
  if (account_id !== null) await touchDomainList(tx, account_id, { isPaused: status === 'paused' });
}
