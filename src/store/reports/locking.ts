import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../engine/database.ts';
import { lockDomain } from '../lists/heads.ts';
import type { ConflictRow } from './conflicts.ts';
import type { ReportRow } from './report-row.ts';

/* The rows that corrections read and lock. What is not there throws `not_found`. */

/** An operator knows the id only. */
type ReportKey = Pick<ReportRow, 'id'> & Partial<Pick<ReportRow, 'domain_id' | 'begin_date'>>;

/** The report, after its domain was locked: what belongs to a domain changes under its lock. */
export async function lockReport(tx: Tx, key: ReportKey): Promise<ReportRow> {
  const { domain_id } = await findReport(tx, key);
  await lockDomain(tx, domain_id);
  return await findReport(tx, key);
}

async function findReport(tx: Tx, key: ReportKey): Promise<ReportRow> {
  return await tx
    .selectFrom('report')
    .selectAll()
    .where(({ and }) => and(key))
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No report has the id ${key.id}.`));
}

/** A conflict and its report, after their domain was locked. */
export async function lockConflict(tx: Tx, seq: number) {
  const { domain_id, report_id: id, begin_date } = await findConflict(tx, seq);
  const report = await lockReport(tx, { id, domain_id, begin_date });
  return { report, conflict: await findConflict(tx, seq) };
}

async function findConflict(tx: Tx, seq: number): Promise<ConflictRow> {
  const conflict = tx.selectFrom('conflict').selectAll().where('seq', '=', seq);
  const message = `No conflict has the number ${seq}.`;
  return await conflict.executeTakeFirstOrThrow(() => new Failure('not_found', message));
}

type Key = Pick<ConflictRow, 'domain_id' | 'begin_date' | 'seq'>;

/** The columns that find a report or a conflict: PostgreSQL's key (decision 90). */
export const toKey = ({ domain_id, begin_date, seq }: Key): Key => ({ domain_id, begin_date, seq });
