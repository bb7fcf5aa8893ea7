import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import { deleteOriginals } from '../documents/originals.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type ConflictRow, selectConflicts, toConflictColumns, toReport } from './conflicts.ts';
import { type LockedDomain, lockConflict, lockReport, toRowKey } from './locking.ts';
import { correctLastReport, deleteReports, noteRemovals } from './removal.ts';
import { type NewRow, type ReportRow, toNewRow } from './report-row.ts';
import { findOrInsertDomain } from './reported-domains.ts';
import { storeReports } from './storing.ts';

/* Corrections by an operator: which of several contents of a report is kept, and what is removed. */

export interface Corrected {
  /** The report's id. */
  readonly report: string;
  readonly domainId: string;
  /** The number of the conflict that replaced a removed report. */
  readonly replacedBy: number | null;
}

/**
 * Makes a conflict's content the report's content. The report keeps its id; the former content becomes the conflict, with
 * the conflict's number. Preferring the same conflict again undoes it. Throws `not_found`.
 */
export function preferConflict(
  db: Db,
  conflictSeq: number,
  now: Instant = toInstant(new Date()),
): Promise<Corrected> {
  return db.write(async (tx) => {
    const locked = await lockConflict(tx, conflictSeq);
    await exchange(tx, { ...locked, now });
    return toCorrected(locked);
  });
}

/** Its domain is locked. */
export interface Locked {
  readonly domain: LockedDomain;
  readonly report: ReportRow;
}

interface Exchange extends Locked {
  readonly conflict: ConflictRow;
  readonly now: Instant;
}

export async function exchange(tx: Tx, { conflict, now, ...locked }: Exchange): Promise<void> {
  await replaceReport(tx, { ...locked, next: toReport(conflict), now });
  await tx
    .updateTable('conflict')
    .set(toConflictColumns(toNewRow(locked.report)))
    .where(({ and }) => and(toRowKey(conflict)))
    .execute();
}

/** Clients that follow the list get the other content at its end. */
export async function replaceReport(
  tx: Tx,
  {
    domain: { id, name },
    report,
    next: row,
    now,
  }: Omit<Exchange, 'conflict'> & { readonly next: NewRow },
): Promise<void> {
  const stated = findContent(row.content)?.policyPublished;
  await deleteReports(tx, id, [report]);
  const domain = await findOrInsertDomain(tx, name, now);
  const revision = report.revision + 1;
  await storeReports(
    tx,
    [{ domain, row, policy: stated ? toPolicyTags(stated) : null, revision }],
    now,
  );
  await correctLastReport(tx, domain.id, [report]);
}

/**
 * Removes a report's content. The oldest conflict replaces it; without one, the report is deleted. The
 * removed content is not stored again when it comes in again. Throws `not_found`.
 */
export function removeReport(db: Db, id: string, now: Instant): Promise<Corrected> {
  return db.write(async (tx) => {
    const { domain, report } = await lockReport(tx, { id });
    const oldest = selectConflicts(tx, report).selectAll().orderBy('seq').limit(1);
    const conflict = await oldest.executeTakeFirst();
    if (conflict === undefined) {
      await deleteReports(tx, domain.id, [report]);
      await correctLastReport(tx, domain.id, [report]);
      await noteRemovals(tx, [report], now);
    } else {
      await replaceReport(tx, { domain, report, next: toReport(conflict), now });
      await deleteConflict(tx, conflict);
    }
    await deleteOriginals(tx, [report.document_seq]);
    await insertRemovedPayload(tx, report);
    return toCorrected({ domain, report }, conflict?.seq);
  });
}

/** Removes a conflict. Its content is not stored again when it comes in again. */
export function removeConflict(db: Db, seq: number): Promise<Corrected> {
  return db.write(async (tx) => {
    const { domain, report, conflict } = await lockConflict(tx, seq);
    await deleteConflict(tx, conflict);
    await deleteOriginals(tx, [conflict.document_seq]);
    await insertRemovedPayload(tx, { ...conflict, id: report.id });
    return toCorrected({ domain, report });
  });
}

async function deleteConflict(tx: Tx, conflict: ConflictRow): Promise<void> {
  const row = tx.deleteFrom('conflict').where(({ and }) => and(toRowKey(conflict)));
  await row.execute();
}

/** The report's id is that of the removed content. */
async function insertRemovedPayload(
  tx: Tx,
  { id: report_id, payload_sha256 }: Pick<ReportRow, 'id' | 'payload_sha256'>,
): Promise<void> {
  await tx
    .insertInto('removed_payload')
    .values({ report_id, payload_sha256 })
    .onConflict((oc) => oc.columns(['report_id', 'payload_sha256']).doNothing())
    .execute();
}

export async function removeRejection(db: Db, seq: number): Promise<void> {
  const { numDeletedRows } = await db.write(async (tx) => {
    await deleteOriginals(tx, [seq]);
    return await tx.deleteFrom('rejection').where('document_seq', '=', seq).executeTakeFirst();
  });
  if (numDeletedRows === 0n) throw new Failure('not_found', `No rejection has the number ${seq}.`);
}

function toCorrected({ domain, report }: Locked, replacedBy: number | null = null): Corrected {
  return { report: report.id, domainId: domain.id, replacedBy };
}
