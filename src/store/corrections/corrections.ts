import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { lockDomain } from '../accounts/domains.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { findNewestOther, type NewestOther } from '../reports/last-report.ts';
import { uncountReport } from './departures.ts';
import {
  CONFLICT_COLUMNS,
  type ConflictRow,
  exchange,
  REPORT_COLUMNS,
  type ReportRow,
  toChanged,
  toKey,
  toSources,
} from './exchange.ts';

/*
 * Corrections by an operator: which of several contents of a report is kept, and what is removed. Records and
 * source addresses are not stored, so callers read the contents from the originals again. Reading takes long,
 * so it happens outside the transaction. The transaction changes nothing when the rows have changed since
 * they were read.
 */

/** The content that is kept now, and the conflict that replaces it. */
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
  const key = toReportKey(await findConflict(db, conflictSeq));
  const newestOther = await findNewestOther(db, await findReport(db, key));
  await db.write(async (tx) => {
    const report = await lockReport(tx, key);
    const conflict = await findConflict(tx, conflictSeq);
    if (conflict.report_seq !== report.seq) throw toChanged();
    await exchange(tx, { report, conflict, ...contents, newestOther });
  });
}

/** What was read of a report that will be removed. */
export interface ToRemove {
  readonly id: string;
  readonly payloadSha256: string;
  /**
   * Its content, or null when it could not be read. Each address of the day then loses as many messages as the report
   * has.
   */
  readonly former: AggregateReport | null;
  /** The oldest conflict of the report, or null when it has none. */
  readonly next: { readonly seq: number; readonly content: AggregateReport } | null;
}

/**
 * Removes a report's content. The oldest conflict replaces it; without one, the report is deleted. The
 * removed content is not stored again when it comes in again. Throws like `preferConflict`.
 */
export async function removeReport(db: Db, toRemove: ToRemove, now: Instant): Promise<void> {
  const newestOther = await findNewestOther(db, await findReport(db, { id: toRemove.id }));
  await db.write(async (tx) => {
    const report = await lockReport(tx, { id: toRemove.id });
    if (report.payload_sha256 !== toRemove.payloadSha256) throw toChanged();
    const oldest = await findOldestConflict(tx, report);
    if (oldest?.seq !== toRemove.next?.seq) throw toChanged();
    const departing = { report, toRemove, newestOther };
    if (oldest === undefined) await deleteReport(tx, departing);
    else await replaceReport(tx, departing, oldest);
    await insertRemovedPayload(tx, { ...report, removed_at: now });
  });
}

/** Removes a conflict. Its content is not stored again when it comes in again. */
export async function removeConflict(db: Db, seq: number, now: Instant): Promise<void> {
  const key = toReportKey(await findConflict(db, seq));
  await db.write(async (tx) => {
    const { id } = await lockReport(tx, key);
    const conflict = await findConflict(tx, seq);
    await deleteConflict(tx, conflict);
    await insertRemovedPayload(tx, { ...conflict, id, removed_at: now });
  });
}

/** Removes a rejection from the list. */
export async function removeRejection(db: Db, seq: number): Promise<void> {
  const { numDeletedRows } = await db.write((tx) =>
    tx.deleteFrom('rejection').where('seq', '=', seq).executeTakeFirst(),
  );
  if (numDeletedRows === 0n) throw new Failure('not_found', `No rejection has the number ${seq}.`);
}

async function findConflict(db: Queries, seq: number): Promise<ConflictRow> {
  const row = await db
    .selectFrom('conflict')
    .select(CONFLICT_COLUMNS)
    .where('seq', '=', seq)
    .executeTakeFirst();
  if (row === undefined) throw new Failure('not_found', `No conflict has the number ${seq}.`);
  return row;
}

async function deleteConflict(tx: Tx, conflict: ConflictRow): Promise<void> {
  await tx
    .deleteFrom('conflict')
    .where(({ and }) => and(toKey(conflict)))
    .execute();
}

function findOldestConflict(
  tx: Tx,
  { domain_id, seq }: ReportRow,
): Promise<ConflictRow | undefined> {
  const conflicts = tx
    .selectFrom('conflict')
    .select(CONFLICT_COLUMNS)
    .where(({ and }) => and({ domain_id, report_seq: seq }));
  return conflicts.orderBy('seq').limit(1).executeTakeFirst();
}

type ReportKey = { readonly id: string } | Pick<ReportRow, 'domain_id' | 'seq'>;

function toReportKey({ domain_id, report_seq }: ConflictRow): ReportKey {
  return { domain_id, seq: report_seq };
}

/** The report, after its domain was locked: what belongs to a domain changes under its lock. */
async function lockReport(tx: Tx, key: ReportKey): Promise<ReportRow> {
  const { domain_id } = await findReport(tx, key);
  await lockDomain(tx, domain_id);
  return await findReport(tx, key);
}

async function findReport(db: Queries, key: ReportKey): Promise<ReportRow> {
  const row = await db
    .selectFrom('report')
    .select(REPORT_COLUMNS)
    .where(({ and }) => and(key))
    .executeTakeFirst();
  if (row === undefined)
    throw new Failure('not_found', `No report has the id ${'id' in key ? key.id : key.seq}.`);
  return row;
}

interface Departing {
  readonly report: ReportRow;
  readonly toRemove: ToRemove;
  readonly newestOther: NewestOther;
}

async function deleteReport(
  tx: Tx,
  { report, toRemove: { former }, newestOther }: Departing,
): Promise<void> {
  await tx
    .deleteFrom('report')
    .where(({ and }) => and(toKey(report)))
    .execute();
  await uncountReport(tx, report, { sources: toSources(former), newestOther });
}

/**
 * Replaces the report's content by the conflict's, and deletes the conflict's row, which then has the former
 * content.
 */
async function replaceReport(
  tx: Tx,
  { report, toRemove: { former, next }, newestOther }: Departing,
  conflict: ConflictRow,
): Promise<void> {
  if (next === null) throw toChanged();
  await exchange(tx, { report, conflict, former, preferred: next.content, newestOther });
  await deleteConflict(tx, conflict);
}

interface RemovedPayload {
  readonly id: string;
  readonly payload_sha256: string;
  readonly removed_at: Instant;
}

async function insertRemovedPayload(
  tx: Tx,
  { id, payload_sha256, removed_at }: RemovedPayload,
): Promise<void> {
  await tx
    .insertInto('removed_payload')
    .values({ report_id: id, payload_sha256, removed_at })
    .onConflict((oc) => oc.columns(['report_id', 'payload_sha256']).doNothing())
    .execute();
}
