import { type Instant, toDay } from '../../domain/instant.ts';
import { isInView } from '../../domain/reports/authentication.ts';
import { removeArrivals } from '../account-reports/removals.ts';
import type { Measured } from '../documents/stored-bytes.ts';
import type { Tx } from '../engine/database.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { insertGaps, insertPoint } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import type { DomainDay } from '../sources/days.ts';
import { uncountDay } from './departed-days.ts';
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
  await uncountDay(tx, at, reports);
  await uncountReceipts(tx, at.domainId, departed);
  await correctLastReport(tx, newest, replacedAt);
  await shortenReportList(tx, at.domainId, reports.length);
  await removeArrivals(tx, { ...at, points: reports });
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
