import type { Instant } from '../../domain/instant.ts';
import { IS_DMARC } from '../days/believed.ts';
import { recountDays } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { tellOfChanges } from '../events/events.ts';
import { type NewChange, takeNumbers } from '../lists/changes.ts';
import { isOfDomain, newVersion, touchDomainList } from '../lists/heads.ts';
import { takeFromLists } from './account-lists.ts';
import { ofDmarc, ofTls, placeOf, type ReportRow } from './report-row.ts';

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
  const rows = tx.deleteFrom('report').where(isOfDomain(domainId));
  await rows.where('begin_date', 'in', begins).where('seq', 'in', seqs).execute();
  const [dmarc, tls] = [ofDmarc(reports), ofTls(reports)];
  const places = dmarc.map((row) => placeOf(domainId, row));
  await recountDays(tx, places);
  await tx
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '-', dmarc.length),
      tls_total: eb('tls_total', '-', tls.length),
      ...(dmarc.length > 0 && { reports_version: newVersion() }),
      ...(tls.length > 0 && { tls_version: newVersion() }),
    }))
    .where('id', '=', domainId)
    .execute();
  await takeFromLists(tx, reports);
}

/**
 * After reports of one domain were deleted for another reason than their age: who follows the account is told, and who
 * follows the domain's list begins again.
 */
export async function noteRemovals(tx: Tx, removed: readonly ReportRow[], at: Instant) {
  const [seq] = removed.map(({ domain_seq }) => domain_seq);
  if (seq === undefined) return;
  const domain = tx.selectFrom('domain').select(['id', 'account_id']).where('seq', '=', seq);
  const { id: domainId, account_id: accountId } = await domain.executeTakeFirstOrThrow();
  if (accountId === null) return;
  const of = { accountId, at, domainId };
  const [dmarc, tls] = [ofDmarc, ofTls].map((ofKind) => ofKind(removed).map(({ id }) => id));
  const changed = {
    ...(dmarc?.length && { reports_removed: await noteDmarc(tx, { ...of, reportIds: dmarc }) }),
    ...(tls?.length && {
      tls_removed: (await takeNumbers(tx, { ...of, type: 'tls_report.removed', reportIds: tls }))
        .number,
    }),
  };
  await tx.updateTable('domain').set(changed).where('id', '=', domainId).execute();
}

type Removed = Required<Pick<NewChange, 'accountId' | 'at' | 'domainId' | 'reportIds'>>;

/** Webhooks tell of them, too. */
async function noteDmarc(tx: Tx, removed: Removed): Promise<number> {
  const { accountId, at, domainId: domain_id, reportIds } = removed;
  const type = 'report.removed';
  const data = reportIds.map((report_id) => ({ type, domain_id, at, report_id }));
  await tellOfChanges(tx, { accountId, type, at, data });
  return (await takeNumbers(tx, { ...removed, type })).number;
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
    .where(isOfDomain(domainId))
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
