import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { touchDomainList } from '../lists/heads.ts';
import type { ReportRow } from './rows.ts';

/**
 * When a domain's newest report was received, after `report` was removed, or was exchanged for what came in at
 * `replacedAt`. The counts of receipts must be right already.
 */
export async function correctLastReport(
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
