import { type RawBuilder, sql } from 'kysely';
import { type Instant, toDay } from '../../domain/instant.ts';
import { isInView } from '../../domain/reports/authentication.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addReport, type DaySources, subtractDay } from '../../domain/sources/day-sources.ts';
import { isIntact, isKept, unpackSources } from '../../domain/sources/packed-sources.ts';
import { removeArrivals } from '../account-reports/removals.ts';
import { deleteAlertDays, recountAlertDays } from '../documents/alert-days.ts';
import { dayOf } from '../documents/day-counts.ts';
import { restatePolicy } from '../documents/stated-policy.ts';
import type { Measured } from '../documents/stored-bytes.ts';
import type { Tx } from '../engine/database.ts';
import { runPrepared } from '../engine/prepared.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { insertGaps, insertPoint } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import { findReporterName } from '../reports/report-row.ts';
import { type DomainDay, updateSources } from '../sources/days.ts';
import type { ReportRow } from './rows.ts';

/* Subtracts reports from every count that arrival-counts.ts adds them to. */

interface Departure {
  readonly replacedAt: Instant | null;
  /** Of all that was stored of it. */
  readonly bytes: number;
}

/**
 * `report` is the row as it was counted. The stored row must be deleted before this is called, or be exchanged for
 * what came in at `replacedAt`.
 */
export async function uncountReport(
  tx: Tx,
  report: ReportRow,
  { replacedAt, bytes }: Departure,
): Promise<void> {
  await uncountReports(tx, [{ report, bytes }], replacedAt);
  // Clients may come back with a cursor of the position that the report had.
  const { domain_id, position, nonce } = report;
  await insertGaps(tx, reportList(domain_id), [position]);
  await insertPoint(tx, reportList(domain_id), { position, nonce });
}

/** The same for reports of one day of a domain, which leave no gaps. */
export async function uncountReports(
  tx: Tx,
  departed: readonly Pick<Measured<ReportRow>, 'report' | 'bytes'>[],
  replacedAt: Instant | null = null,
): Promise<void> {
  const reports = departed.map(({ report }) => report);
  const [newest] = reports.toSorted((a, b) => (a.received_at > b.received_at ? -1 : 1));
  if (newest === undefined) return;
  const at = { domainId: newest.domain_id, day: toDay(newest.begin_date) };
  if (await uncountDay(tx, at, reports)) {
    const seqs = reports.map(({ seq }) => seq);
    await uncountSources(tx, at, reports);
    await restatePolicy(tx, at, seqs);
    await recountAlertDays(tx, at, seqs);
  } else await deleteAlertDays(tx, at);
  await uncountReceipts(tx, at.domainId, departed);
  await correctLastReport(tx, newest, replacedAt);
  await shortenReportList(tx, at.domainId, reports.length);
  await removeArrivals(tx, { ...at, points: reports });
}

/** Returns whether the day has other reports. One without reports must have no row. */
async function uncountDay(
  tx: Tx,
  { domainId, day }: DomainDay,
  reports: readonly ReportRow[],
): Promise<boolean> {
  const counted = await tx
    .updateTable('domain_day')
    .set((eb) => ({
      reports: eb('reports', '-', reports.length),
      messages: withoutReports(reports, 'messages', 'total_messages'),
      aligned: withoutReports(reports, 'aligned', 'aligned_messages'),
    }))
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .returning('reports')
    .executeTakeFirst();
  if (counted === undefined || counted.reports > 0) return counted !== undefined;
  const none = tx.deleteFrom('domain_day').where('domain_id', '=', domainId);
  await none.where('day', '=', day).execute();
  return false;
}

/**
 * A day's sum without some of its reports. A sum that stopped at 2^53 − 1 does not include all that was added, so
 * subtracting from it is wrong: the sum is computed again from the day's other reports.
 */
function withoutReports(
  reports: readonly ReportRow[],
  sum: 'messages' | 'aligned',
  of: 'total_messages' | 'aligned_messages',
): RawBuilder<number> {
  const [first] = reports as readonly [ReportRow];
  const [column, max] = [sql.ref(sum), sql.lit(Number.MAX_SAFE_INTEGER)];
  const total = sql`coalesce(sum(${sql.ref(of)}), 0)`;
  const day = toDay(first.begin_date);
  const others = sql`(
    select case when ${total} > ${max} then ${max} else ${total} end from report
    where domain_id = ${first.domain_id} and seq not in (${sql.join(reports.map(({ seq }) => seq))})
      and begin_date >= ${day} and begin_date <= ${`${day}T23:59:59Z`})`;
  const gone = reports.reduce((all, report) => addSafely(all, Number(report[of])), 0);
  return sql<number>`case when ${column} >= ${max} then ${others} else ${column} - ${gone} end`;
}

/** A count may be too small, and is never too large or negative. What is damaged stays so until it is read or added to. */
async function uncountSources(tx: Tx, at: DomainDay, reports: readonly ReportRow[]): Promise<void> {
  const [day] = await runPrepared(tx, dayOf(at));
  if (day === undefined || !isKept(day.sources) || !isIntact(day.sources)) return;
  const sources = unpackSources(day.sources);
  const departed: DaySources = new Map();
  for (const report of reports) {
    const { records } = unpackContent(report.content);
    addReport(departed, { reporter: findReporterName(report), sources: countSources(records) });
  }
  subtractDay(sources, departed);
  await updateSources(tx, at, sources);
}

async function uncountReceipts(
  tx: Tx,
  domainId: string,
  departed: readonly Pick<Measured<ReportRow>, 'report' | 'bytes'>[],
): Promise<void> {
  const byDay = Map.groupBy(departed, ({ report }) => toDay(report.received_at));
  for (const [day, gone] of byDay) {
    const bytes = gone.reduce((sum, one) => sum + one.bytes, 0);
    const doubtful = gone.filter(
      ({ report }) => !isInView('established', report.authenticated),
    ).length;
    await uncountReceipt(tx, { domainId, day }, { reports: gone.length, doubtful, bytes });
  }
}

async function uncountReceipt(
  tx: Tx,
  { domainId: domain_id, day }: DomainDay,
  gone: { readonly reports: number; readonly doubtful: number; readonly bytes: number },
): Promise<void> {
  const receipts = tx.updateTable('domain_receipt').where('domain_id', '=', domain_id);
  await receipts
    .set((eb) => ({
      reports: eb('reports', '-', gone.reports),
      doubtful: eb('doubtful', '-', gone.doubtful),
      bytes: eb('bytes', '-', gone.bytes),
    }))
    .where('day', '=', day)
    .execute();
  const none = tx.deleteFrom('domain_receipt').where('domain_id', '=', domain_id);
  await none.where('day', '=', day).where('reports', '<=', 0).execute();
}

/**
 * When a domain's newest report was received, after `report`, the newest of several, was removed, or was exchanged for
 * what came in at `replacedAt`. The counts of receipts must be right already.
 */
async function correctLastReport(
  tx: Tx,
  report: ReportRow,
  replacedAt: Instant | null,
): Promise<void> {
  const { domain_id, received_at } = report;
  const { account_id, status, last_report_at } = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  if (last_report_at !== null && last_report_at > received_at) return;
  const newest = later(await findNewestOther(tx, report), replacedAt);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', domain_id).execute();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}

/**
 * The last day on which others were received says how many to look for. They are nearly always the last that have
 * positions, so no index is needed.
 */
async function findNewestOther(tx: Tx, { domain_id, seq }: ReportRow): Promise<Instant | null> {
  const last = await tx
    .selectFrom('domain_receipt')
    .select(['day', 'reports'])
    .where('domain_id', '=', domain_id)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return null;
  const ofDay = tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', domain_id)
    .where('seq', '<>', seq)
    .where('received_at', '>=', `${last.day}T00:00:00Z`)
    .orderBy('position', 'desc')
    .limit(last.reports)
    .as('of_day');
  const { newest } = await tx
    .selectFrom(ofDay)
    .select(({ fn }) => fn.max('received_at').as('newest'))
    .executeTakeFirstOrThrow();
  return newest;
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

async function shortenReportList(tx: Tx, domainId: string, by: number): Promise<void> {
  await tx
    .updateTable('domain')
    .set((eb) => ({ reports_total: eb('reports_total', '-', by), reports_version: newVersion() }))
    .where('id', '=', domainId)
    .execute();
}
