import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { BEGIN_OF_TIME, type Instant } from '../../domain/instant.ts';
import type { MailProof } from '../../domain/reports/authentication.ts';
import { isUuid } from '../../domain/uuid.ts';
import { findDocumentNames } from '../documents/document-rows.ts';
import type { Db } from '../engine/database.ts';
import { isOfDomain } from '../lists/heads.ts';
import { selectStoredReports } from './report-of-account.ts';
import { unpackRow } from './report-row.ts';

/** How an operator names a document: a report's UUID, `conflict-<number>` or `rejection-<number>`. */
export type DocumentId =
  | { readonly kind: 'report'; readonly id: string }
  | { readonly kind: 'conflict'; readonly seq: number }
  | { readonly kind: 'rejection'; readonly seq: number };

const NUMBERED = /^(conflict|rejection)-([1-9]\d{0,14})$/;

export function parseDocumentId(text: string): DocumentId | undefined {
  if (isUuid(text)) return { kind: 'report', id: text.toLowerCase() };
  const [, kind, seq] = NUMBERED.exec(text) ?? [];
  return kind === undefined
    ? undefined
    : { kind: kind as 'conflict' | 'rejection', seq: Number(seq) };
}

/** `repeated`: a stored report whose content its reporter has sent under another id as well. */
export const LISTED_OUTCOMES = ['rejected', 'conflict', 'repeated'] as const;
type ListedOutcome = (typeof LISTED_OUTCOMES)[number];

/** With what the mail of a conflict or a repeated report proves. */
export interface ListedDocument extends MailProof {
  readonly id: string;
  readonly received_at: Instant;
  readonly outcome: ListedOutcome;
  readonly reason: string | null;
  readonly message: string | null;
  readonly where: string | null;
  /** The stored report that has the conflict's identity. */
  readonly report: string | null;
  readonly domain: string | null;
  readonly input: string;
  readonly member: string | null;
}

export interface DocumentFilter {
  readonly outcome?: ListedOutcome | undefined;
  readonly reason?: string | undefined;
  readonly since?: Instant | undefined;
}

/** Only rejections have a reason. */
const has = (listed: ListedOutcome, { outcome = listed, reason }: DocumentFilter) =>
  outcome === listed && (listed === 'rejected' || reason === undefined);

type LimitedFilter = DocumentFilter & { readonly limit: number };

/** Rejections, conflicts and repeated reports, newest first. */
export async function listDocuments(db: Db, filter: LimitedFilter): Promise<ListedDocument[]> {
  const conflicts = has('conflict', filter) ? await listConflicts(db, filter) : [];
  const repeated = has('repeated', filter) ? await listRepeated(db, filter) : [];
  const rejections = has('rejected', filter) ? await listRejections(db, filter) : [];
  const newest = [...conflicts, ...repeated, ...rejections].sort(byReceipt).slice(0, filter.limit);
  const seqs = newest.map(({ document_seq }) => document_seq);
  const toNames = await findDocumentNames(db, seqs);
  const nothing = { reason: null, message: null, where: null };
  const unknown = { report: null, domain: null, authenticated: null, doubt: null };
  return newest.map(({ document_seq, ...one }) => {
    return { ...nothing, ...unknown, ...one, ...toNames(document_seq) };
  });
}

type Received = Pick<ListedDocument, 'received_at'>;

function byReceipt(a: Received, b: Received): number {
  if (a.received_at === b.received_at) return 0;
  return a.received_at < b.received_at ? 1 : -1;
}

async function listRejections(db: Db, { reason, since = BEGIN_OF_TIME, limit }: LimitedFilter) {
  let query = db
    .selectFrom('rejection')
    .innerJoin('document', 'document.seq', 'rejection.document_seq')
    .select(['document_seq', 'received_at', 'reason', 'message', 'place as where'])
    .where('received_at', '>=', since);
  if (reason !== undefined) query = query.where('reason', '=', reason);
  const rows = await query.orderBy('document_seq', 'desc').limit(limit).execute();
  return rows.map((row) => {
    return { id: `rejection-${row.document_seq}`, outcome: 'rejected' as const, ...row };
  });
}

async function listConflicts(db: Db, { since = BEGIN_OF_TIME, limit }: LimitedFilter) {
  const rows = await db
    .selectFrom('conflict as c')
    .innerJoin('domain', 'domain.seq', 'c.domain_seq')
    .select(['c.seq', 'c.received_at', 'c.report_id as report', 'domain.name as domain'])
    .select(['c.document_seq', 'c.authenticated', 'c.doubt'])
    .where('c.received_at', '>=', since)
    .orderBy('c.received_at', 'desc')
    .orderBy('c.seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ seq, ...row }) => {
    return { id: `conflict-${seq}`, outcome: 'conflict' as const, ...row };
  });
}

/**
 * A report with the warning `repeated_content` (domain/reports/warning-texts.ts): the condition of an index, as those of days/belief.ts.
 *
 * @internal A test compares both.
 */
export const IS_REPEATED = sql<boolean>`warnings like '%"repeated_content"%'`;

async function listRepeated(db: Db, { since = BEGIN_OF_TIME, limit }: LimitedFilter) {
  const rows = await db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'report.domain_seq')
    .select(['report.id', 'report.received_at', 'report.id as report', 'domain.name as domain'])
    .select(['report.document_seq', 'report.authenticated', 'report.doubt'])
    .where('report.received_at', '>=', since)
    .where(IS_REPEATED)
    .orderBy('report.received_at', 'desc')
    .orderBy('report.seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ outcome: 'repeated' as const, ...row }));
}

const DOCUMENTS_AT_ONCE = 100;

/** The numbers of the documents of rejections and conflicts, in the order in which they came, read some at a time. */
export async function* listDocumentSeqs(db: Db, filter: DocumentFilter): AsyncGenerator<number> {
  const { reason, since = BEGIN_OF_TIME } = filter;
  const rejected = db
    .selectFrom('rejection')
    .select('document_seq')
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason as string));
  const conflicts = db.selectFrom('conflict').select('document_seq');
  const matching = db
    .selectFrom('document')
    .select('seq')
    .where('received_at', '>=', since)
    .where((eb) =>
      eb.or([
        ...(has('rejected', filter) ? [eb('seq', 'in', rejected)] : []),
        ...(has('conflict', filter) ? [eb('seq', 'in', conflicts)] : []),
      ]),
    )
    .orderBy('seq')
    .limit(DOCUMENTS_AT_ONCE);
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: { seq: number }[] = await matching.where('seq', '>', after).execute();
    for (const { seq } of rows) yield seq;
    after = rows.at(-1)?.seq;
  }
}

/** A report, where its document is stored, and the numbers of its conflicts, oldest first. Throws `not_found`. */
export async function findStoredReport(db: Db, id: string) {
  const report = await selectStoredReports(db)
    .where('report.id', '=', id)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No report has the id ${id}.`));
  const conflicts = await db
    .selectFrom('conflict')
    .select('seq')
    .where(isOfDomain(report.domain_id))
    .where('report_id', '=', report.id)
    .orderBy('seq')
    .execute();
  return { ...(await withNames(db, report)), conflicts: conflicts.map(({ seq }) => seq) };
}

/** A conflict with its content, where its document is stored, and the id of its report. Throws `not_found`. */
export async function findStoredConflict(db: Db, seq: number) {
  const { parsed, ...conflict } = await db
    .selectFrom('conflict as c')
    .innerJoin('domain', 'domain.seq', 'c.domain_seq')
    .select(['c.seq', 'c.report_id as report', 'c.document_seq', 'domain.name as domain'])
    .select(['c.payload_sha256', 'c.received_at', 'c.authenticated', 'c.doubt', 'c.parsed'])
    .where('c.seq', '=', seq)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No conflict has the number ${seq}.`));
  return await withNames(db, { ...conflict, ...unpackRow(parsed) });
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
  if (id.kind === 'report') return (await findStoredReport(db, id.id)).document_seq;
  const find = id.kind === 'conflict' ? findStoredConflict : findStoredRejection;
  return (await find(db, id.seq)).document_seq;
}
