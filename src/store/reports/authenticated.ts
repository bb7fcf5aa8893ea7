import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import type { Instant } from '../../domain/instant.ts';
import { type MailProof, toTrust } from '../../domain/reports/authentication.ts';
import type { Db, Tx } from '../engine/database.ts';
import { insertAudit, plumbline } from '../events/audit.ts';
import { selectConflicts } from './conflicts.ts';
import { exchange, type Locked, replaceReport } from './corrections.ts';
import { believe } from './established.ts';
import { type LockedDomain, lockReport } from './locking.ts';
import { type ReportRow, toNewRow } from './report-row.ts';
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
  const stored = db.selectFrom('report').select('doubt').where('id', '=', id);
  const known = await stored.executeTakeFirst();
  if (known === undefined || known.doubt === null) return;
  await db.write(async (tx) => {
    const { domain } = await lockReport(tx, { id });
    const about = toOwned(domain);
    const [proof] = await judgeReporters(tx, [{ ...content, about }], now);
    // Earlier reports of the sender may have been established by this, and the report with them.
    const { report } = await lockReport(tx, { id });
    if (proof === undefined || toTrust(proof.doubt) <= toTrust(report.doubt)) return;
    const isSame = toHex(report.payload_sha256) === content.payloadSha256;
    const judged = { payloadSha256: content.payloadSha256, proof, now };
    if (isSame) await believeAgain(tx, { domain, report }, judged);
    else if (!(await exchangeFor(tx, { domain, report }, judged))) return;
    const action = isSame ? 'report_authenticated' : 'report_replaced';
    if (about !== undefined) await audit(tx, report, { about, action, now });
  });
}

interface Judged {
  readonly payloadSha256: string;
  readonly proof: MailProof;
  readonly now: Instant;
}

/** The list of TLS reports says who sent one: clients that follow it get it again. */
async function believeAgain(
  tx: Tx,
  { domain, report }: Locked,
  { proof, now }: Judged,
): Promise<void> {
  if (report.kind === null) return await believe(tx, domain.id, { reports: [report], proof });
  await replaceReport(tx, { domain, report, next: { ...toNewRow(report), ...proof }, now });
}

/** Returns whether the content is a conflict of the report. Of a report only so many conflicts are kept. */
async function exchangeFor(
  tx: Tx,
  { domain, report }: Locked,
  { payloadSha256, proof, now }: Judged,
): Promise<boolean> {
  const conflict = await selectConflicts(tx, report)
    .selectAll()
    .where('payload_sha256', '=', toBytes(payloadSha256))
    .executeTakeFirst();
  if (conflict === undefined) return false;
  // It may have come before by a mail of somebody else.
  await exchange(tx, { domain, report, conflict: { ...conflict, ...proof }, now });
  return true;
}

/** undefined when no account has it. */
const toOwned = ({ id, name, accountId }: LockedDomain): Owned | undefined =>
  accountId === null ? undefined : { id, accountId, name };

async function audit(
  tx: Tx,
  { report_id }: ReportRow,
  { about, action, now }: { about: Owned; action: AuditAction; now: Instant },
): Promise<void> {
  const { accountId, name: subject } = about;
  const detail = (report_id ?? '').slice(0, 200);
  await insertAudit(tx, plumbline(now), { accountId, action, subject, detail });
}
