import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { ConflictRow } from './conflicts.ts';
import type { ReportRow } from './report-row.ts';

/* The rows that corrections read and lock. What is not there throws `not_found`. */

/** An operator knows the id only. */
type ReportKey = Pick<ReportRow, 'id'> & Partial<Pick<ReportRow, 'domain_seq' | 'begin_date'>>;

/** The domain of a locked report. */
export interface LockedDomain {
  readonly id: string;
  readonly name: string;
  readonly accountId: string | null;
}

/** The report, after its domain was locked: what belongs to a domain changes under its lock. */
export async function lockReport(tx: Tx, key: ReportKey) {
  const { domain_seq } = await findReport(tx, key);
  const domain: LockedDomain = await tx
    .selectFrom('domain')
    .select(['id', 'name', 'account_id as accountId'])
    .where('seq', '=', domain_seq)
    .$call(dialectOf(tx).locked)
    .executeTakeFirstOrThrow(() => noReport(key));
  return { domain, report: await findReport(tx, key) };
}

async function findReport(tx: Tx, key: ReportKey): Promise<ReportRow> {
  return await tx
    .selectFrom('report')
    .selectAll()
    .where(({ and }) => and(key))
    .executeTakeFirstOrThrow(() => noReport(key));
}

const noReport = ({ id }: ReportKey) => new Failure('not_found', `No report has the id ${id}.`);

/** A conflict and its report, after their domain was locked. */
export async function lockConflict(tx: Tx, seq: number) {
  const { domain_seq, report_id: id, begin_date } = await findConflict(tx, seq);
  const locked = await lockReport(tx, { id, domain_seq, begin_date });
  return { ...locked, conflict: await findConflict(tx, seq) };
}

async function findConflict(tx: Tx, seq: number): Promise<ConflictRow> {
  const conflict = tx.selectFrom('conflict').selectAll().where('seq', '=', seq);
  const message = `No conflict has the number ${seq}.`;
  return await conflict.executeTakeFirstOrThrow(() => new Failure('not_found', message));
}

type Key = Pick<ConflictRow, 'domain_seq' | 'begin_date' | 'seq'>;

/** The columns that find a report or a conflict: PostgreSQL's key (decision 90). */
export const toRowKey = ({ domain_seq, begin_date, seq }: Key): Key => ({
  domain_seq,
  begin_date,
  seq,
});
