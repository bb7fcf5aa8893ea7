import type { Selectable } from 'kysely';
import type { Tx } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import { type NewRow, packRow, unpackRow } from './report-row.ts';

export type ConflictRow = Selectable<Tables['conflict']>;

/** The report is stored, its domain locked, and the caller knows that there is no conflict with this content. */
export async function insertConflict(tx: Tx, row: NewRow): Promise<void> {
  const { id: report_id, domain_seq, begin_date } = row;
  await tx
    .insertInto('conflict')
    .values({ report_id, domain_seq, begin_date, ...toConflictColumns(row) })
    // A row that is not inserted means that its `seq` exists already, as after a sequence was set back.
    .onConflict((oc) => oc.doNothing())
    .returning('seq')
    .executeTakeFirstOrThrow();
}

/** The conflicts of a report. */
export function selectConflicts(tx: Tx, report: Pick<NewRow, 'id' | 'domain_seq' | 'begin_date'>) {
  const { id: report_id, domain_seq, begin_date } = report;
  const conflicts = tx.selectFrom('conflict');
  return conflicts.where(({ and }) => and({ report_id, domain_seq, begin_date }));
}

/** The columns in which contents of one report differ. */
export function toConflictColumns({ id, domain_seq, ...row }: NewRow) {
  const { document_seq, received_at, payload_sha256, authenticated, doubt, ...parsed } = row;
  const arrived = { document_seq, received_at, payload_sha256, authenticated, doubt };
  return { ...arrived, parsed: packRow(parsed) };
}

/** The report that a conflict is when it takes its report's place. */
export function toReport({ parsed, report_id: id, domain_seq, ...conflict }: ConflictRow): NewRow {
  const { document_seq, received_at, payload_sha256, authenticated, doubt } = conflict;
  const arrived = { document_seq, received_at, payload_sha256, authenticated, doubt };
  return { ...unpackRow(parsed), ...arrived, id, domain_seq };
}
