import { type Expression, type SqlBool, sql } from 'kysely';
import type { View } from '../../domain/reports/authentication.ts';
import { isKept, NOT_KEPT, packSources } from '../../domain/sources/packed-sources.ts';
import type { Tx } from '../engine/database.ts';
import { prepareQuery, runPrepared } from '../engine/prepared.ts';
import type { DomainDay } from '../sources/days.ts';
import { recountDay } from '../sources/recount.ts';
import type { Tables } from '../tables.ts';

/*
 * Days as alerts look at them (domain/reports/authentication.ts). Most days have no such rows: they count as they are. A
 * day gets them with its first report that a view does not count. They are sums of their own, not differences: nobody
 * who sends reports without end pushes out what others say, or brings a sum to where it stops.
 */

export type AlertDay = Tables['alert_day'];

export const ALERT_DAY_COLUMNS = [
  ...(['domain_id', 'day', 'reports', 'messages', 'aligned'] as const),
  ...(['view', 'sources'] as const),
] as const;

/** The rows of its views. */
export const alertDaysOf = prepareQuery<DomainDay, AlertDay>((db, param) =>
  db
    .selectFrom('alert_day')
    .select(ALERT_DAY_COLUMNS)
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day')),
);

/** Whether a view counts a row of `report`. */
export function isCounted(view: View): Expression<SqlBool> {
  return view === 'established'
    ? sql<SqlBool>`(authenticated is null or (authenticated not in ('', 'disputed')
        and authenticated not like 'new %'))`
    : sql<SqlBool>`(authenticated is null or authenticated <> 'disputed')`;
}

/** Whether a row of `report` is none of those with these numbers. */
export function isOther(without: readonly number[]): Expression<SqlBool> {
  // 0 is the number of no report.
  return sql<SqlBool>`seq not in (${sql.join([0, ...without])})`;
}

/**
 * Counts a day's rows again, without some reports: those that leave, or are exchanged and added afterwards. Without a
 * report that is left there are no rows.
 */
export async function recountAlertDays(
  tx: Tx,
  at: DomainDay,
  without: readonly number[] = [],
): Promise<void> {
  const { domainId: domain_id, day } = at;
  for (const { view, sources: known } of await runPrepared(tx, alertDaysOf(at))) {
    const isLeft = sql<SqlBool>`${isCounted(view)} and ${isOther(without)}`;
    const { reports, messages, aligned } = await tx
      .selectFrom('report')
      .select(({ fn }) => [
        fn.countAll<number>().as('reports'),
        fn.sum<number | null>('total_messages').as('messages'),
        fn.sum<number | null>('aligned_messages').as('aligned'),
      ])
      .where('domain_id', '=', domain_id)
      .where('begin_date', '>=', `${day}T00:00:00Z`)
      .where('begin_date', '<=', `${day}T23:59:59Z`)
      .where(isLeft)
      .executeTakeFirstOrThrow();
    const sources = isKept(known) ? packSources(await recountDay(tx, at, isLeft)) : NOT_KEPT;
    const sum = { reports, messages: toSafe(messages), aligned: toSafe(aligned), sources };
    const rows = tx.updateTable('alert_day').set(sum);
    await rows.where(({ and }) => and({ domain_id, day, view })).execute();
  }
}

const toSafe = (sum: number | null) => Math.min(Number(sum ?? 0), Number.MAX_SAFE_INTEGER);

/** Of a day whose last report has gone. */
export async function deleteAlertDays(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  const rows = tx.deleteFrom('alert_day').where('domain_id', '=', domainId);
  await rows.where('day', '=', day).execute();
}
