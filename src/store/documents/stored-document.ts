import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { findInputNames, type StoredInput } from '../inputs/inputs.ts';
import { selectStoredReports } from '../reports/report-of-account.ts';
import type { DocumentId } from './document-list.ts';

/** A document's input, where in the input the document is, and which bytes it has. */
export interface DocumentLocation {
  readonly source_seq: number;
  readonly input: string;
  readonly member: string | null;
  readonly received_at: Instant;
  readonly payload_sha256: string;
}

export type StoredReport = Awaited<ReturnType<typeof findStoredReport>>;

/** A report, where its document is stored, and the numbers of its conflicts, oldest first. Throws `not_found`. */
export async function findStoredReport(db: Db, id: string) {
  const report = await selectStoredReports(db).where('report.id', '=', id).executeTakeFirst();
  if (report === undefined) throw new Failure('not_found', `No report has the id ${id}.`);
  const conflicts = await db
    .selectFrom('conflict')
    .select('seq')
    .where('domain_id', '=', report.domain_id)
    .where('report_seq', '=', report.seq)
    .orderBy('seq')
    .execute();
  return {
    ...(await withInputName(db, report)),
    conflicts: conflicts.map(({ seq }) => seq),
  };
}

/** A conflict, where its document is stored, and the id of its report. Throws `not_found`. */
export async function findStoredConflict(db: Db, seq: number) {
  const conflict = await db
    .selectFrom('conflict as c')
    .innerJoin('report', (join) =>
      join.onRef('report.domain_id', '=', 'c.domain_id').onRef('report.seq', '=', 'c.report_seq'),
    )
    .select(['c.seq', 'report.id as report', 'c.source_seq'])
    .select(['c.member', 'c.payload_sha256', 'c.received_at'])
    .where('c.seq', '=', seq)
    .executeTakeFirst();
  if (conflict === undefined) throw new Failure('not_found', `No conflict has the number ${seq}.`);
  return await withInputName(db, conflict);
}

async function withInputName<Row extends { readonly source_seq: number }>(db: Db, row: Row) {
  const toInputName = await findInputNames(db, [row.source_seq]);
  return { ...row, input: toInputName(row.source_seq) };
}

/** A rejection, and where its document is stored. Throws `not_found`. */
export async function findStoredRejection(db: Db, seq: number) {
  const rejection = await db
    .selectFrom('rejection as r')
    .innerJoin('source as s', 's.seq', 'r.source_seq')
    .select(['r.seq', 'reason', 'message', 'place', 'r.source_seq', 's.name as input', 'member'])
    .select(['ordinal', 'r.received_at'])
    .where('r.seq', '=', seq)
    .executeTakeFirst();
  if (rejection === undefined)
    throw new Failure('not_found', `No rejection has the number ${seq}.`);
  return rejection;
}

/** The input that a document was found in. Throws `not_found`. */
export async function findInputOf(db: Db, id: DocumentId): Promise<StoredInput> {
  const { source_seq } = await findStored(db, id);
  return await db
    .selectFrom('source')
    .select(['seq', 'name', 'received_at as receivedAt'])
    .where('seq', '=', source_seq)
    .executeTakeFirstOrThrow();
}

function findStored(db: Db, id: DocumentId): Promise<{ source_seq: number }> {
  if (id.kind === 'report') return findStoredReport(db, id.id);
  return id.kind === 'conflict' ? findStoredConflict(db, id.seq) : findStoredRejection(db, id.seq);
}
