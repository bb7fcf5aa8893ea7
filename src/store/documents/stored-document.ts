import { Failure } from '../../domain/failure.ts';
import type { Db } from '../engine/database.ts';
import { selectStoredReports } from '../reports/report-of-account.ts';
import type { DocumentId } from './document-list.ts';
import { findDocumentNames } from './document-rows.ts';

/** A report, where its document is stored, and the numbers of its conflicts, oldest first. Throws `not_found`. */
export async function findStoredReport(db: Db, id: string) {
  const report = await selectStoredReports(db)
    .where('report.id', '=', id)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No report has the id ${id}.`));
  const conflicts = await db
    .selectFrom('conflict')
    .select('seq')
    .where(({ and }) => and({ domain_id: report.domain_id, report_id: report.id }))
    .orderBy('seq')
    .execute();
  return { ...(await withNames(db, report)), conflicts: conflicts.map(({ seq }) => seq) };
}

/** A conflict with its content, where its document is stored, and the id of its report. Throws `not_found`. */
export async function findStoredConflict(db: Db, seq: number) {
  const conflict = await db
    .selectFrom('conflict as c')
    .innerJoin('report', (join) =>
      join
        .onRef('report.id', '=', 'c.report_id')
        .onRef('report.domain_id', '=', 'c.domain_id')
        .onRef('report.begin_date', '=', 'c.begin_date'),
    )
    .innerJoin('domain', 'domain.id', 'c.domain_id')
    .select(['c.seq', 'c.report_id as report', 'c.document_seq', 'domain.name as domain'])
    .select(['report.report_id', 'c.begin_date', 'end_date', 'c.payload_sha256', 'c.received_at'])
    .select(['c.reporter_org', 'c.reporter_email'])
    .select(['c.record_count', 'c.total_messages', 'c.aligned_messages', 'c.content'])
    .where('c.seq', '=', seq)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No conflict has the number ${seq}.`));
  return await withNames(db, conflict);
}

async function withNames<Row extends { readonly document_seq: number }>(db: Db, row: Row) {
  const toNames = await findDocumentNames(db, [row.document_seq]);
  return { ...row, ...toNames(row.document_seq) };
}

/** A rejection, and where its document is stored. Throws `not_found`. */
export async function findStoredRejection(db: Db, seq: number) {
  return await db
    .selectFrom('rejection')
    .innerJoin('document', 'document.seq', 'rejection.document_seq')
    .select(['document_seq', 'reason', 'message', 'place', 'input_name as input', 'member'])
    .select('received_at')
    .where('document_seq', '=', seq)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No rejection has the number ${seq}.`));
}

/** The number of a document. Throws `not_found`. */
export async function findDocumentSeq(db: Db, id: DocumentId): Promise<number> {
  return (await findStored(db, id)).document_seq;
}

function findStored(db: Db, id: DocumentId): Promise<{ document_seq: number }> {
  if (id.kind === 'report') return findStoredReport(db, id.id);
  return id.kind === 'conflict' ? findStoredConflict(db, id.seq) : findStoredRejection(db, id.seq);
}
