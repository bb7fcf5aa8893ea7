import type { Instant } from '../../domain/instant.ts';
import { IS_DMARC } from '../days/believed.ts';
import { recountDays } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { tellOfChanges } from '../events/events.ts';
import { takeNumbers } from '../lists/changes.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { takeFromLists } from './account-lists.ts';
import { ofDmarc, placeOf, type ReportRow } from './report-row.ts';

/**
 * Deletes reports of a locked domain. Their conflicts and documents are the caller's to delete or to keep, and so is the
 * moment of the domain's last report: `correctLastReport`.
 */
export async function deleteReports(
  tx: Tx,
  domainId: string,
  reports: readonly ReportRow[],
): Promise<void> {
  const [begins, seqs] = [reports.map((one) => one.begin_date), reports.map(({ seq }) => seq)];
  // The whole key (decision 90).
  const rows = tx.deleteFrom('report').where('domain_id', '=', domainId);
  await rows.where('begin_date', 'in', begins).where('seq', 'in', seqs).execute();
  const listed = ofDmarc(reports);
  if (listed.length === 0) return;
  await recountDays(tx, listed.map(placeOf));
  await tx
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '-', listed.length),
      reports_version: newVersion(),
    }))
    .where('id', '=', domainId)
    .execute();
  await takeFromLists(tx, listed);
}

/**
 * After reports of one domain were deleted for another reason than their age: who follows the account is told, and who
 * follows the domain's list begins again.
 */
export async function noteRemovals(tx: Tx, removedRows: readonly ReportRow[], at: Instant) {
  const reports = ofDmarc(removedRows);
  if (reports.length === 0) return;
  const [domainId = ''] = reports.map(({ domain_id }) => domain_id);
  const domain = tx.selectFrom('domain').select('account_id').where('id', '=', domainId);
  const { account_id: accountId } = await domain.executeTakeFirstOrThrow();
  if (accountId === null) return;
  const reportIds = reports.map(({ id }) => id);
  const removed = { accountId, at, type: 'report.removed', domainId, reportIds } as const;
  const { type } = removed;
  const data = reportIds.map((report_id) => ({ type, domain_id: domainId, at, report_id }));
  await tellOfChanges(tx, { accountId, type, at, data });
  const { number: reports_removed } = await takeNumbers(tx, removed);
  await tx.updateTable('domain').set({ reports_removed }).where('id', '=', domainId).execute();
}

/** After reports were deleted, and others stored in their place. */
export async function correctLastReport(
  tx: Tx,
  domainId: string,
  deleted: readonly ReportRow[],
): Promise<void> {
  const { account_id, status, last_report_at } = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at'])
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow();
  if (deleted.every(({ received_at }) => received_at !== last_report_at)) return;
  const newest = await findLastReceived(tx, domainId);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', domainId).execute();
  if (account_id !== null) await touchDomainList(tx, account_id, { isPaused: status === 'paused' });
}

/** Reports have numbers in the order in which they were received, but for corrections, which are fewer. */
const LOOKED_AT = 1_000;

async function findLastReceived(tx: Tx, domainId: string): Promise<Instant | null> {
  const latest = tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', domainId)
    .where(IS_DMARC)
    .orderBy('seq', 'desc')
    .limit(LOOKED_AT)
    .as('latest');
  const { newest } = await tx
    .selectFrom(latest)
    .select(({ fn }) => fn.max('received_at').as('newest'))
    .executeTakeFirstOrThrow();
  return newest;
}
