import { type Expression, type SqlBool, sql } from 'kysely';
import { isInView } from '../../domain/reports/authentication.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addReport, type DaySources, subtractDay } from '../../domain/sources/day-sources.ts';
import {
  isIntact,
  isKept,
  packSources,
  unpackSources,
} from '../../domain/sources/packed-sources.ts';
import {
  type AlertDay,
  alertDaysOf,
  alertDayUpserts,
  dayOf,
  dayUpserts,
  isCounted,
  isOther,
  type Sum,
} from '../documents/day-counts.ts';
import { findStatedPolicy } from '../documents/stated-policy.ts';
import type { Tx } from '../engine/database.ts';
import { runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { findReporterName } from '../reports/report-row.ts';
import type { DomainDay } from '../sources/days.ts';
import type { ReportRow } from './rows.ts';

/**
 * Subtracts reports from their day, also as alerts look at it. Their rows must be deleted, or exchanged and added
 * afterwards. A day without reports must have no row.
 */
export async function uncountDay(
  tx: Tx,
  at: DomainDay,
  reports: readonly ReportRow[],
): Promise<void> {
  const [day] = await runPrepared(tx, dayOf(at));
  if (day === undefined) return;
  if (day.reports <= reports.length) return await deleteDay(tx, at);
  const others = { at, without: reports.map(({ seq }) => seq) };
  const views: AlertDay[] = [];
  for (const row of await runPrepared(tx, alertDaysOf(at))) {
    const gone = reports.filter(({ authenticated }) => isInView(row.view, authenticated));
    if (gone.length === 0) continue;
    const isInRow = isCounted(row.view);
    views.push({ ...row, ...(await subtract(tx, row, { gone, ...others, isInRow })) });
  }
  const sum = await subtract(tx, day, { gone: reports, ...others });
  // Only reports that are in this view state a policy.
  const mayState = reports.some(({ authenticated }) => isInView('established', authenticated));
  const policy = mayState ? await findStatedPolicy(tx, at, others.without) : day.policy;
  const row = { ...day, ...sum, policy: policy ?? null };
  await runAllPrepared(tx, [...dayUpserts([row]), ...alertDayUpserts(views)]);
}

async function deleteDay(tx: Tx, { domainId: domain_id, day }: DomainDay): Promise<void> {
  for (const table of ['domain_day', 'alert_day'] as const)
    await tx
      .deleteFrom(table)
      .where(({ and }) => and({ domain_id, day }))
      .execute();
}

interface Others {
  readonly at: DomainDay;
  readonly without: readonly number[];
  /** Whether the sum counts a row of `report`. */
  readonly isInRow?: Expression<SqlBool>;
}

async function subtract(
  tx: Tx,
  { reports, messages, aligned, sources }: Sum,
  { gone, ...others }: Others & { readonly gone: readonly ReportRow[] },
): Promise<Sum> {
  // A sum that stopped does not include all that was added, so subtracting from it would be wrong.
  const isFull = messages >= Number.MAX_SAFE_INTEGER;
  const of = (column: 'total_messages' | 'aligned_messages') =>
    gone.reduce((sum, report) => addSafely(sum, report[column]), 0);
  return {
    reports: reports - gone.length,
    ...(isFull
      ? await sumOthers(tx, others)
      : {
          messages: messages - of('total_messages'),
          aligned: aligned - of('aligned_messages'),
        }),
    sources: subtractSources(sources, gone),
  };
}

async function sumOthers(
  tx: Tx,
  { at: { domainId, day }, without, isInRow = sql<SqlBool>`true` }: Others,
): Promise<Pick<Sum, 'messages' | 'aligned'>> {
  const { messages, aligned } = await tx
    .selectFrom('report')
    .select(({ fn }) => [
      fn.sum<number | null>('total_messages').as('messages'),
      fn.sum<number | null>('aligned_messages').as('aligned'),
    ])
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', `${day}T00:00:00Z`)
    .where('begin_date', '<=', `${day}T23:59:59Z`)
    .where(isOther(without))
    .where(isInRow)
    .executeTakeFirstOrThrow();
  const toSafe = (sum: number | null) => Math.min(Number(sum ?? 0), Number.MAX_SAFE_INTEGER);
  return { messages: toSafe(messages), aligned: toSafe(aligned) };
}

/** A count may be too small, and is never too large or negative. What is damaged stays so until it is read or added to. */
function subtractSources(packed: Uint8Array | null, gone: readonly ReportRow[]) {
  if (!isKept(packed) || !isIntact(packed)) return packed;
  const sources = unpackSources(packed);
  const departed: DaySources = new Map();
  for (const report of gone) {
    const { records } = unpackContent(report.content);
    addReport(departed, { reporter: findReporterName(report), sources: countSources(records) });
  }
  subtractDay(sources, departed);
  return packSources(sources);
}
