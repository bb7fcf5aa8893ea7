import { BEGIN_OF_TIME, type Instant, toDay } from '../../domain/instant.ts';
import { isInView } from '../../domain/reports/authentication.ts';
import { removeArrivals } from '../account-reports/removals.ts';
import { receiptUpserts } from '../documents/arrival-counts.ts';
import type { Measured } from '../documents/stored-bytes.ts';
import type { Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { touchDomainList, touchReportList } from '../lists/heads.ts';
import { insertGaps, insertPoint } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import { uncountDay } from './departed-days.ts';
import type { ReportRow } from './rows.ts';

/* Subtracts reports from every count that arrival-counts.ts adds them to. */

/**
 * `report` is the row as it was counted, and `bytes` what was stored of it. The stored row must be deleted before this is
 * called, or be exchanged and counted afterwards.
 */
export async function uncountReport(tx: Tx, report: ReportRow, bytes: number): Promise<void> {
  await uncountReports(tx, [{ report, bytes }]);
  // Clients may come back with a cursor of the position that the report had.
  const { domain_id, position, nonce } = report;
  await insertGaps(tx, reportList(domain_id), [position]);
  await insertPoint(tx, reportList(domain_id), { position, nonce });
}

/** The same for reports of one day of a domain, which leave no gaps. */
export async function uncountReports(
  tx: Tx,
  departed: readonly Pick<Measured<ReportRow>, 'report' | 'bytes'>[],
): Promise<void> {
  const reports = departed.map(({ report }) => report);
  const [newest] = reports.toSorted((a, b) => (a.received_at > b.received_at ? -1 : 1));
  if (newest === undefined) return;
  const at = { domainId: newest.domain_id, day: toDay(newest.begin_date) };
  await uncountDay(tx, at, reports);
  await uncountReceipts(tx, at.domainId, departed);
  await correctLastReport(tx, newest);
  await touchReportList(tx, { table: 'domain', id: at.domainId }, -reports.length);
  await removeArrivals(tx, { ...at, points: reports });
}

async function uncountReceipts(
  tx: Tx,
  domain_id: string,
  departed: readonly Pick<Measured<ReportRow>, 'report' | 'bytes'>[],
): Promise<void> {
  const byDay = Map.groupBy(departed, ({ report }) => toDay(report.received_at));
  const gone = [...byDay].map(([day, some]) => {
    const doubtful = some.filter(({ report }) => !isInView('established', report.authenticated));
    const bytes = some.reduce((sum, one) => sum + one.bytes, 0);
    const counts = { reports: -some.length, doubtful: -doubtful.length, bytes: -bytes };
    return { domain_id, day, ...counts };
  });
  await runAllPrepared(tx, receiptUpserts(gone));
  const none = tx.deleteFrom('domain_receipt').where('domain_id', '=', domain_id);
  await none
    .where('day', 'in', [...byDay.keys()])
    .where('reports', '<=', 0)
    .execute();
}

/** `report` is the newest of several that left. The counts of receipts must be right already. */
async function correctLastReport(tx: Tx, { domain_id, received_at }: ReportRow): Promise<void> {
  const { account_id, status, last_report_at } = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  if (last_report_at !== null && last_report_at > received_at) return;
  const newest = await findNewest(tx, domain_id);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', domain_id).execute();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}

/**
 * When the newest report was received that is stored. The last day on which others were received says how many to look
 * for, besides one that was exchanged and is not counted yet. They are nearly always the last that have positions, so no
 * index is needed.
 */
async function findNewest(tx: Tx, domain_id: string): Promise<Instant | null> {
  const last = await tx
    .selectFrom('domain_receipt')
    .select(['day', 'reports'])
    .where('domain_id', '=', domain_id)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  const ofDay = tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', domain_id)
    .where('received_at', '>=', last === undefined ? BEGIN_OF_TIME : `${last.day}T00:00:00Z`)
    .orderBy('position', 'desc')
    .limit(1 + (last?.reports ?? 0))
    .as('of_day');
  const { newest } = await tx
    .selectFrom(ofDay)
    .select(({ fn }) => fn.max('received_at').as('newest'))
    .executeTakeFirstOrThrow();
  return newest;
}
