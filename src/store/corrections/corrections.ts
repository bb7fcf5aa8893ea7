import { Failure } from '../../domain/failure.ts';
import { type Instant, toDay } from '../../domain/instant.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { findOrInsertDomain } from '../accounts/reported-domains.ts';
import { countArrivals, countBytes } from '../documents/arrival-counts.ts';
import { Arrivals } from '../documents/arrivals.ts';
import { deleteOriginals } from '../documents/originals.ts';
import { measureDocuments, measureReports, toStoredBytes } from '../documents/stored-bytes.ts';
import type { Db, Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { newGeneration } from '../lists/points.ts';
import { toExchangedRow } from '../reports/report-row.ts';
import { uncountReport } from './departures.ts';
import {
  type ConflictRow,
  findOldestConflict,
  insertRemovedPayload,
  lockConflict,
  lockReport,
  type ReportRow,
  toKey,
} from './rows.ts';

/*
 * Corrections by an operator: which of several contents of a report is kept, and what is removed. A conflict has the
 * columns of its content, so that contents are exchanged in one transaction that reads all it needs.
 */

export interface Corrected {
  /** The report's id. */
  readonly report: string;
  readonly domainId: string;
  /** The number of the conflict that replaced a removed report. */
  readonly replacedBy: number | null;
}

/**
 * Makes a conflict's content the report's content. The report keeps its id and its place in the list; the
 * former content becomes the conflict, with the conflict's number. Preferring the same conflict again undoes
 * it. Throws `not_found`.
 */
export function preferConflict(db: Db, conflictSeq: number): Promise<Corrected> {
  return db.write(async (tx) => {
    const { report, conflict } = await lockConflict(tx, conflictSeq);
    await exchange(tx, report, conflict);
    return toCorrected(report);
  });
}

/**
 * Removes a report's content. The oldest conflict replaces it; without one, the report is deleted. The
 * removed content is not stored again when it comes in again. Throws `not_found`.
 */
export function removeReport(db: Db, id: string, now: Instant): Promise<Corrected> {
  return db.write(async (tx) => {
    const report = await lockReport(tx, { id });
    const conflict = await findOldestConflict(tx, report);
    if (conflict === undefined) {
      await deleteReport(tx, report);
      await beginGeneration(tx, report.domain_id);
    } else {
      await exchange(tx, report, conflict);
      // Its row has the former content now.
      await dropConflict(tx, { ...conflict, ...toExchangedRow(report) }, conflict.received_at);
    }
    await insertRemovedPayload(tx, report, now);
    return toCorrected(report, conflict?.seq);
  });
}

/** Who follows the list of the domain, or of its account, begins again. */
async function beginGeneration(tx: Tx, domainId: string): Promise<void> {
  const reports_generation = newGeneration();
  const { account_id, status } = await tx
    .updateTable('domain')
    .set({ reports_generation })
    .where('id', '=', domainId)
    .returning(['account_id', 'status'])
    .executeTakeFirstOrThrow();
  if (account_id === null || status !== 'active') return;
  const account = tx.updateTable('account').set({ reports_generation });
  await account.where('id', '=', account_id).execute();
}

/** Removes a conflict. Its content is not stored again when it comes in again. */
export function removeConflict(db: Db, seq: number, now: Instant): Promise<Corrected> {
  return db.write(async (tx) => {
    const { report, conflict } = await lockConflict(tx, seq);
    await dropConflict(tx, conflict, report.received_at);
    await insertRemovedPayload(tx, { ...conflict, id: report.id }, now);
    return toCorrected(report);
  });
}

/** Its bytes are counted where those of its report are, which was received at `reportAt`. */
async function dropConflict(tx: Tx, conflict: ConflictRow, reportAt: Instant): Promise<void> {
  const { domain_id: domainId, document_seq, content } = conflict;
  const originals = await measureDocuments(tx, [document_seq]);
  const bytes = -toStoredBytes(content.length, originals.get(document_seq));
  await runAllPrepared(tx, countBytes({ domainId, day: toDay(reportAt), bytes }));
  const row = tx.deleteFrom('conflict').where(({ and }) => and(toKey(conflict)));
  await row.execute();
  await deleteOriginals(tx, [document_seq]);
}

export async function removeRejection(db: Db, seq: number): Promise<void> {
  const { numDeletedRows } = await db.write(async (tx) => {
    await deleteOriginals(tx, [seq]);
    return await tx.deleteFrom('rejection').where('document_seq', '=', seq).executeTakeFirst();
  });
  if (numDeletedRows === 0n) throw new Failure('not_found', `No rejection has the number ${seq}.`);
}

function toCorrected({ id, domain_id }: ReportRow, replacedBy: number | null = null): Corrected {
  return { report: id, domainId: domain_id, replacedBy };
}

async function deleteReport(tx: Tx, report: ReportRow): Promise<void> {
  const bytes = await measureReport(tx, report);
  await tx
    .deleteFrom('report')
    .where(({ and }) => and(toKey(report)))
    .execute();
  await uncountReport(tx, report, bytes);
  await deleteOriginals(tx, [report.document_seq]);
}

async function measureReport(tx: Tx, report: ReportRow): Promise<number> {
  const [measured] = await measureReports(tx, [report]);
  return measured?.bytes ?? 0;
}

/** The conflict gets the report's content, and the report the conflict's, at the end of the order of arrival. */
export async function exchange(tx: Tx, report: ReportRow, conflict: ConflictRow): Promise<void> {
  const { policyPublished, records } = unpackContent(conflict.content);
  const bytes = await measureReport(tx, report);
  const arrivals = new Arrivals(conflict.received_at);
  const lock = () => findOrInsertDomain(tx, policyPublished.domain, arrivals.receivedAt);
  const { position, accountSeq } = await lock();
  const exchanged = toExchangedRow(conflict);
  await tx
    .updateTable('report')
    // Clients that follow the list get the corrected report at this position, behind those that have no key yet.
    .set({ ...exchanged, position: position + 1, nonce: arrivals.nonce, account_seq: accountSeq })
    .where(({ and }) => and(toKey(report)))
    .execute();
  await tx
    .updateTable('conflict')
    .set(toExchangedRow(report))
    .where(({ and }) => and(toKey(conflict)))
    .execute();
  await uncountReport(tx, report, bytes);
  const content = { sources: countSources(records), policyPublished, bytes };
  // When its last report came may be another moment now.
  arrivals.add(await lock(), { ...report, ...exchanged }, content);
  await countArrivals(tx, arrivals);
}
