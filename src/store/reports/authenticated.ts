import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import type { Instant } from '../../domain/instant.ts';
import { toTrust } from '../../domain/reports/authentication.ts';
import type { Db, Tx } from '../engine/database.ts';
import { insertAudit, plumbline } from '../events/audit.ts';
import { selectConflicts } from './conflicts.ts';
import { exchange } from './corrections.ts';
import { believe } from './established.ts';
import { lockReport } from './locking.ts';
import type { ReportRow } from './report-row.ts';
import { judgeReporters, type Owned } from './senders.ts';

export interface AuthenticatedContent {
  /** The report's. */
  readonly id: string;
  readonly payloadSha256: string;
  /** The reporter. */
  readonly authenticated: string;
  /** The reporters in whose name it is. */
  readonly claimed?: readonly string[] | undefined;
}

/** With what is stored of its sender. */
type JudgedContent = Omit<AuthenticatedContent, 'authenticated'> & Pick<ReportRow, 'authenticated'>;

/**
 * An authenticated mail had a report that is stored already, or another content of it. When the sender of the stored one is
 * less well known (`toTrust`), this one takes its place. Doing it twice does no harm.
 */
export async function preferAuthenticated(
  db: Db,
  content: AuthenticatedContent,
  now: Instant,
): Promise<void> {
  const { id } = content;
  const stored = db.selectFrom('report').select('authenticated').where('id', '=', id);
  const known = await stored.executeTakeFirst();
  if (known === undefined || toTrust(known.authenticated) === 2) return;
  await db.write(async (tx) => {
    const domain = await findDomain(tx, await lockReport(tx, { id }));
    const [authenticated = null] = await judgeReporters(tx, [{ ...content, about: domain }], now);
    // Earlier reports of the sender may have been established by this, and the report with them.
    const report = await lockReport(tx, { id });
    if (toTrust(authenticated) <= toTrust(report.authenticated)) return;
    const isSame = toHex(report.payload_sha256) === content.payloadSha256;
    const judged = { ...content, authenticated };
    if (isSame) await believe(tx, [report], authenticated);
    else if (!(await exchangeFor(tx, report, { ...judged, now }))) return;
    await audit(tx, report, {
      domain,
      action: isSame ? 'report_authenticated' : 'report_replaced',
      now,
    });
  });
}

/** Returns whether the content is a conflict of the report. Of a report only so many conflicts are kept. */
async function exchangeFor(
  tx: Tx,
  report: ReportRow,
  { payloadSha256, authenticated, now }: JudgedContent & { readonly now: Instant },
): Promise<boolean> {
  const conflict = await selectConflicts(tx, report)
    .selectAll()
    .where('payload_sha256', '=', toBytes(payloadSha256))
    .executeTakeFirst();
  if (conflict === undefined) return false;
  // It may have come before by a mail of somebody else.
  await exchange(tx, { report, conflict: { ...conflict, authenticated }, now });
  return true;
}

/** undefined when no account has it. */
async function findDomain(tx: Tx, { domain_id }: ReportRow): Promise<Owned | undefined> {
  const { name, account_id: accountId } = await tx
    .selectFrom('domain')
    .select(['name', 'account_id'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  return accountId === null ? undefined : { id: domain_id, accountId, name };
}

async function audit(
  tx: Tx,
  { report_id }: ReportRow,
  { domain, action, now }: { domain: Owned | undefined; action: AuditAction; now: Instant },
): Promise<void> {
  if (domain === undefined) return;
  const { accountId, name: subject } = domain;
  const detail = (report_id ?? '').slice(0, 200);
  await insertAudit(tx, plumbline(now), { accountId, action, subject, detail });
}
