import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { findInputNames } from '../inputs/input-names.ts';

/** How an operator names a document: a report's UUID, `conflict-<number>` or `rejection-<number>`. */
export type DocumentId =
  | { readonly kind: 'report'; readonly id: string }
  | { readonly kind: 'conflict'; readonly seq: number }
  | { readonly kind: 'rejection'; readonly seq: number };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBERED = /^(conflict|rejection)-([1-9]\d{0,14})$/;

/** undefined when the text is not an id of a document. */
export function parseDocumentId(text: string): DocumentId | undefined {
  if (UUID.test(text)) return { kind: 'report', id: text.toLowerCase() };
  const [, kind, seq] = NUMBERED.exec(text) ?? [];
  return kind === undefined
    ? undefined
    : { kind: kind as 'conflict' | 'rejection', seq: Number(seq) };
}

/** A document that was not stored as a report: rejected, or in conflict with a stored report. */
export interface ListedDocument {
  readonly id: string;
  readonly received_at: Instant;
  readonly outcome: 'rejected' | 'conflict';
  /** Why it was rejected. */
  readonly reason: string | null;
  readonly message: string | null;
  readonly where: string | null;
  /** The stored report that has the conflict's identity. */
  readonly report: string | null;
  readonly domain: string | null;
  readonly input: string;
  readonly member: string | null;
}

export interface ListedFilter {
  readonly outcome?: 'rejected' | 'conflict' | undefined;
  /** Rejections have a reason, conflicts have none. */
  readonly reason?: string | undefined;
  readonly since?: Instant | undefined;
  readonly limit: number;
}

/** Rejections and conflicts, newest first. */
export async function listDocuments(db: Db, filter: ListedFilter): Promise<ListedDocument[]> {
  const { outcome, reason, limit } = filter;
  const hasConflicts = outcome !== 'rejected' && reason === undefined;
  const conflicts = hasConflicts ? await listConflicts(db, filter) : [];
  const rejections = outcome === 'conflict' ? [] : await listRejections(db, filter);
  return [...conflicts, ...rejections].sort(byReceipt).slice(0, limit);
}

function byReceipt(a: ListedDocument, b: ListedDocument): number {
  if (a.received_at === b.received_at) return 0;
  return a.received_at < b.received_at ? 1 : -1;
}

async function listRejections(db: Db, filter: ListedFilter): Promise<ListedDocument[]> {
  const { reason, since = '', limit } = filter;
  let query = db
    .selectFrom('rejection as r')
    .innerJoin('source as s', 's.seq', 'r.source_seq')
    .select([
      'r.seq',
      'r.received_at',
      'reason',
      'message',
      'place as where',
      's.name as input',
      'member',
    ])
    .where('r.received_at', '>=', since);
  if (reason !== undefined) query = query.where('reason', '=', reason);
  const newestFirst = query.orderBy('r.received_at', 'desc').orderBy('r.seq', 'desc');
  const rows = await newestFirst.limit(limit).execute();
  return rows.map(({ seq, received_at, ...row }) => ({
    id: `rejection-${seq}`,
    received_at,
    outcome: 'rejected',
    report: null,
    domain: null,
    ...row,
  }));
}

async function listConflicts(
  db: Db,
  { since = '', limit }: ListedFilter,
): Promise<ListedDocument[]> {
  const rows = await db
    .selectFrom('conflict as c')
    .innerJoin('report', (join) =>
      join.onRef('report.domain_id', '=', 'c.domain_id').onRef('report.seq', '=', 'c.report_seq'),
    )
    .innerJoin('domain', 'domain.id', 'report.domain_id')
    .select(['c.seq', 'c.received_at', 'report.id as report', 'domain.name as domain'])
    .select(['c.source_seq', 'c.member'])
    .where('c.received_at', '>=', since)
    .orderBy('c.received_at', 'desc')
    .orderBy('c.seq', 'desc')
    .limit(limit)
    .execute();
  const toInputName = await findInputNames(
    db,
    rows.map(({ source_seq }) => source_seq),
  );
  return rows.map(({ seq, received_at, report, domain, source_seq, member }) => ({
    id: `conflict-${seq}`,
    received_at,
    outcome: 'conflict',
    reason: null,
    message: null,
    where: null,
    report,
    domain,
    input: toInputName(source_seq),
    member,
  }));
}

/** Where a content is stored: which input, and which place in it. */
export interface DocumentPlace {
  readonly source_seq: number;
  readonly input: string;
  readonly member: string | null;
  readonly received_at: Instant;
  readonly payload_sha256: string;
}

const REPORT = [
  'report.id',
  'report.seq',
  'domain_id',
  'domain.name as domain',
  'report.received_at',
  'reporter_org',
  'reporter_email',
  'report_id',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
  'warnings',
  'source_seq',
  'member',
  'payload_sha256',
] as const;

export type StoredReport = Awaited<ReturnType<typeof findStoredReport>>;

/** A report, where its content is stored, and its conflicts' numbers, oldest first. Throws `not_found`. */
export async function findStoredReport(db: Db, id: string) {
  const report = await db
    .selectFrom('report')
    .innerJoin('domain', 'domain.id', 'report.domain_id')
    .select(REPORT)
    .where('report.id', '=', id)
    .executeTakeFirst();
  if (report === undefined) throw new Failure('not_found', `No report has the id ${id}.`);
  const conflicts = await db
    .selectFrom('conflict')
    .select('seq')
    .where('domain_id', '=', report.domain_id)
    .where('report_seq', '=', report.seq)
    .orderBy('seq')
    .execute();
  const placed = await withInputName(db, report);
  return { ...placed, conflicts: conflicts.map(({ seq }) => seq) };
}

/** A conflict, where its content is stored, and the id of its report. Throws `not_found`. */
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

/** A rejection, and where its content is stored. Throws `not_found`. */
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
