import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import { countArrivals } from '../documents/arrival-counts.ts';
import { Arrivals } from '../documents/arrivals.ts';
import type { Db, Tx } from '../engine/database.ts';
import { toContentRow } from '../reports/report-row.ts';
import { uncountReport } from './departures.ts';
import { findNewestOther, type NewestOther } from './last-report.ts';
import {
  type ConflictRow,
  changedMeanwhile,
  deleteConflict,
  findConflict,
  findOldestConflict,
  findReport,
  insertRemovedPayload,
  lockReport,
  type ReportRow,
  toKey,
} from './rows.ts';

/*
 * Corrections by an operator: which of several contents of a report is kept, and what is removed. Records and source
 * addresses are not stored, so callers read the contents from the originals again. That takes long, so it happens
 * before the transaction, which changes nothing when the rows have changed since.
 */

/** The content that is kept now, and the content of the conflict that replaces it. */
export interface Contents {
  readonly former: AggregateReport;
  readonly preferred: AggregateReport;
}

/**
 * Makes a conflict's content the report's content. The report keeps its id and its place in the list; the
 * former content becomes the conflict, with the conflict's number. Preferring the same conflict again undoes
 * it. Throws `not_found`, and `conflict` when something has changed since the contents were read.
 */
export async function preferConflict(
  db: Db,
  conflictSeq: number,
  contents: Contents,
): Promise<void> {
  const { domain_id, report_seq: seq } = await findConflict(db, conflictSeq);
  const newestOther = await findNewestOther(db, { domain_id, seq });
  await db.write(async (tx) => {
    const report = await lockReport(tx, { domain_id, seq });
    const conflict = await findConflict(tx, conflictSeq);
    if (conflict.report_seq !== report.seq) throw changedMeanwhile();
    await exchange(tx, { report, conflict, ...contents, newestOther });
  });
}

/** A report that will be removed, as it was read. */
export interface ReportToRemove {
  readonly id: string;
  readonly payloadSha256: string;
  /** null when it could not be read. Each address of the day then loses as many messages as the report has. */
  readonly former: AggregateReport | null;
  /** The oldest conflict of the report. */
  readonly next: { readonly seq: number; readonly content: AggregateReport } | null;
}

/**
 * Removes a report's content. The oldest conflict replaces it; without one, the report is deleted. The
 * removed content is not stored again when it comes in again. Throws like `preferConflict`.
 */
export async function removeReport(
  db: Db,
  { id, payloadSha256, former, next }: ReportToRemove,
  now: Instant,
): Promise<void> {
  const newestOther = await findNewestOther(db, await findReport(db, { id }));
  await db.write(async (tx) => {
    const report = await lockReport(tx, { id });
    const conflict = await findOldestConflict(tx, report);
    const isUnchanged = report.payload_sha256 === payloadSha256 && conflict?.seq === next?.seq;
    if (!isUnchanged) throw changedMeanwhile();
    if (conflict === undefined || next === null)
      await deleteReport(tx, report, { former, newestOther });
    else {
      await exchange(tx, { report, conflict, former, preferred: next.content, newestOther });
      // Its row has the former content now.
      await deleteConflict(tx, conflict);
    }
    await insertRemovedPayload(tx, { ...report, removed_at: now });
  });
}

/** Removes a conflict. Its content is not stored again when it comes in again. */
export async function removeConflict(db: Db, seq: number, now: Instant): Promise<void> {
  const { domain_id, report_seq } = await findConflict(db, seq);
  await db.write(async (tx) => {
    const { id } = await lockReport(tx, { domain_id, seq: report_seq });
    const conflict = await findConflict(tx, seq);
    await deleteConflict(tx, conflict);
    await insertRemovedPayload(tx, { ...conflict, id, removed_at: now });
  });
}

export async function removeRejection(db: Db, seq: number): Promise<void> {
  const { numDeletedRows } = await db.write((tx) =>
    tx.deleteFrom('rejection').where('document_seq', '=', seq).executeTakeFirst(),
  );
  if (numDeletedRows === 0n) throw new Failure('not_found', `No rejection has the number ${seq}.`);
}

interface FormerContent {
  readonly former: AggregateReport | null;
  readonly newestOther: NewestOther;
}

async function deleteReport(
  tx: Tx,
  report: ReportRow,
  { former, newestOther }: FormerContent,
): Promise<void> {
  await tx
    .deleteFrom('report')
    .where(({ and }) => and(toKey(report)))
    .execute();
  await uncountReport(tx, report, { former, newestOther });
}

interface Exchange extends FormerContent {
  readonly report: ReportRow;
  readonly conflict: ConflictRow;
  readonly preferred: AggregateReport;
}

async function exchange(
  tx: Tx,
  { report, conflict, former, preferred, newestOther }: Exchange,
): Promise<void> {
  const isUnchanged =
    (former === null || former.payloadSha256 === report.payload_sha256) &&
    preferred.payloadSha256 === conflict.payload_sha256 &&
    toReportId(preferred) === report.id;
  if (!isUnchanged) throw changedMeanwhile();
  const arrivals = new Arrivals(conflict.received_at);
  const { domain: name } = preferred.policyPublished;
  await arrivals.lockDomains(tx, new Set([name]));
  const domain = (await arrivals.findDomains(tx, [name])).get(name) as ReportedDomain;
  // Clients that follow the list get the corrected report at this position.
  const position = arrivals.nextPosition(domain);
  await tx
    .updateTable('report')
    .set({ ...toDocumentRow(conflict), ...toContentRow(preferred), position })
    .where(({ and }) => and(toKey(report)))
    .execute();
  await tx
    .updateTable('conflict')
    .set(toDocumentRow(report))
    .where(({ and }) => and(toKey(conflict)))
    .execute();
  await uncountReport(tx, report, { former, newestOther });
  arrivals.add(domain, toContentRow(preferred), preferred.sources);
  await countArrivals(tx, arrivals);
}

function toDocumentRow({ document_seq, payload_sha256, received_at }: ConflictRow | ReportRow) {
  return { document_seq, payload_sha256, received_at };
}
