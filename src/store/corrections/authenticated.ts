import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import { type Instant, toDay } from '../../domain/instant.ts';
import { isAuthenticated } from '../../domain/reports/authentication.ts';
import { insertAudit, plumbline } from '../accounts/audit.ts';
import { recountAlertDays } from '../documents/alert-days.ts';
import type { Db, Tx } from '../engine/database.ts';
import { exchange } from './corrections.ts';
import { lockReport, type ReportRow, toKey } from './rows.ts';

export interface AuthenticatedContent {
  /** The report's. */
  readonly id: string;
  readonly payloadSha256: string;
  /** The organisational domain. */
  readonly authenticated: string;
}

/**
 * An authenticated mail had a report that is stored already, or another content of it. When nobody authenticated the stored
 * one, this one takes its place. Doing it twice does no harm.
 */
export async function preferAuthenticated(
  db: Db,
  content: AuthenticatedContent,
  now: Instant,
): Promise<void> {
  const { id } = content;
  const stored = db.selectFrom('report').select('authenticated').where('id', '=', id);
  const known = await stored.executeTakeFirst();
  if (known === undefined || isAuthenticated(known.authenticated)) return;
  await db.write(async (tx) => {
    const report = await lockReport(tx, { id });
    if (isAuthenticated(report.authenticated)) return;
    const isSame = toHex(report.payload_sha256) === content.payloadSha256;
    if (isSame) await noteAuthenticated(tx, report, content);
    else if (!(await exchangeFor(tx, report, content))) return;
    await audit(tx, report, { action: isSame ? 'report_authenticated' : 'report_replaced', now });
  });
}

/** The content is that of the report. No list shows the difference. */
async function noteAuthenticated(
  tx: Tx,
  report: ReportRow,
  { authenticated }: AuthenticatedContent,
): Promise<void> {
  const { domain_id: domainId, begin_date, received_at } = report;
  const rows = tx.updateTable('report').set({ authenticated });
  await rows.where(({ and }) => and(toKey(report))).execute();
  await tx
    .updateTable('domain_receipt')
    .set((eb) => ({ unauthenticated: eb('unauthenticated', '-', 1) }))
    .where('domain_id', '=', domainId)
    .where('day', '=', toDay(received_at))
    .execute();
  await recountAlertDays(tx, { domainId, day: toDay(begin_date) });
}

/** Returns whether the content is a conflict of the report. Of a report only so many conflicts are kept. */
async function exchangeFor(
  tx: Tx,
  report: ReportRow,
  { payloadSha256, authenticated }: AuthenticatedContent,
): Promise<boolean> {
  const { id: report_id, domain_id, begin_date } = report;
  const conflict = await tx
    .selectFrom('conflict')
    .selectAll()
    .where(({ and }) => and({ report_id, domain_id, begin_date }))
    .where('payload_sha256', '=', toBytes(payloadSha256))
    .executeTakeFirst();
  if (conflict === undefined) return false;
  // It may have come before by a mail that was not authenticated.
  await exchange(tx, report, { ...conflict, authenticated });
  return true;
}

async function audit(
  tx: Tx,
  { domain_id, report_id }: ReportRow,
  { action, now }: { readonly action: AuditAction; readonly now: Instant },
): Promise<void> {
  const { name: subject, account_id: accountId } = await tx
    .selectFrom('domain')
    .select(['name', 'account_id'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  if (accountId === null) return;
  const detail = (report_id ?? '').slice(0, 200);
  await insertAudit(tx, plumbline(now), { accountId, action, subject, detail });
}
