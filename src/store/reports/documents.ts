import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../accounts/domains.ts';
import type { Db, Tx } from '../connection/database.ts';
import { isOfValues } from '../connection/database-error.ts';
import { prepareQuery, runPrepared } from '../connection/prepared.ts';
import { Arrivals, countArrivals } from './arrivals.ts';
import { insertConflict } from './conflicts.ts';
import { insertOriginal, type Original, type StoredOriginal } from './originals.ts';
import { toContentRow } from './report-row.ts';

/** A document found in a source. */
export interface ReceivedDocument {
  /** The source's row, from `keepOriginal`; the same object for each document of one source. */
  readonly original: Original;
  /**
   * Its position among the documents of its source, from 0. Reading the source again gives the same position.
   */
  readonly ordinal: number;
  /** Names of the container members that it was found in, outermost first. */
  readonly member: readonly string[];
  /** The report, or the reason why there is none. */
  readonly content: AggregateReport | Refusal;
}

/**
 * The result for a document (decisions, section 3): `unclaimed` is stored for a domain that nobody has
 * registered, `duplicate` is known already, `conflict` has a known report's identity and other content,
 * `removed` was removed by an operator before.
 */
export type Outcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'removed' | 'rejected';

/**
 * The bounds of one transaction: documents, rows of source addresses, and time, whichever is reached first.
 * Counts and heads are written after that, so the write lock is held a little longer. Goal: 250 ms.
 */
const MAX_DOCUMENTS = 200;
const MAX_COUNT_COST = 2_500;
const MAX_MS = 50;

/**
 * Stores documents in as many transactions as their bounds require, and returns the outcome of each. A
 * transaction stores documents with their source's row and every count and head that they change. When a
 * process ends between two transactions, storing the same documents again counts nothing twice.
 */
export async function insertReceived(
  db: Db,
  documents: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const insert = async (some: readonly ReceivedDocument[]) => {
    outcomes.push(...(await db.write((tx) => insertSome(tx, some, receivedAt))));
  };
  let atMost = MAX_DOCUMENTS;
  while (outcomes.length < documents.length) {
    const some = documents.slice(outcomes.length, outcomes.length + atMost);
    const [first] = some as [ReceivedDocument];
    try {
      await insert(some);
    } catch (error) {
      if (!isOfDocument(error)) throw error;
      // Stored one by one, the documents before and after the one that fails are stored.
      if (some.length === 1) await insert([{ ...first, content: UNSTORABLE }]);
      atMost = some.length === 1 ? MAX_DOCUMENTS : 1;
    }
  }
  return outcomes;
}

const UNSTORABLE = new Refusal('reader_failed', 'What was read could not be stored.');

/** Whether another document would not meet the error. */
function isOfDocument(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || isOfValues(error);
}

/** Stores the first documents, at least one, and returns their outcomes. */
async function insertSome(
  tx: Tx,
  documents: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const endAt = performance.now() + MAX_MS;
  const arrivals = new Arrivals(receivedAt);
  const stored = new Map<Original, StoredOriginal>();
  await arrivals.lockDomains(tx, toDomainNames(documents));
  const hasRemovals = (await runPrepared(tx, anyRemoval({}))).length > 0;
  const outcomes: Outcome[] = [];
  for (const document of documents) {
    const { original } = document;
    const source = stored.get(original) ?? (await insertOriginal(tx, original));
    stored.set(original, source);
    outcomes.push(await insertDocument(tx, { ...source, document, arrivals, hasRemovals }));
    const isFull = outcomes.length >= MAX_DOCUMENTS || arrivals.countCost >= MAX_COUNT_COST;
    if (isFull || performance.now() > endAt) break;
  }
  await countArrivals(tx, arrivals);
  return outcomes;
}

/** The names of the domains that the first documents of a transaction are about. */
function toDomainNames(documents: readonly ReceivedDocument[]): Set<string> {
  const contents = documents.slice(0, MAX_DOCUMENTS).map(({ content }) => content);
  const reports = contents.filter((content) => !(content instanceof Refusal)) as AggregateReport[];
  return new Set(reports.map(({ policyPublished }) => policyPublished.domain));
}

interface Placed extends StoredOriginal {
  readonly document: ReceivedDocument;
  readonly arrivals: Arrivals;
  /** Whether an operator has ever removed a payload. */
  readonly hasRemovals: boolean;
}

async function insertDocument(tx: Tx, placed: Placed): Promise<Outcome> {
  const { content } = placed.document;
  if (content instanceof Refusal) return await insertRejection(tx, content, placed);
  if (placed.isKnown) await deleteRejection(tx, placed);
  return await insertReport(tx, content, placed);
}

/** A source that is read again, with a better parser or more memory, may now have a report at this position. */
async function deleteRejection(tx: Tx, { sourceSeq, document }: Placed): Promise<void> {
  await tx
    .deleteFrom('rejection')
    .where('source_seq', '=', sourceSeq)
    .where('ordinal', '=', document.ordinal)
    .execute();
}

/** A rejection of the same bytes is stored once, with the reason that was found last. */
async function insertRejection(tx: Tx, refusal: Refusal, placed: Placed): Promise<Outcome> {
  await tx
    .insertInto('rejection')
    .values({
      source_seq: placed.sourceSeq,
      ordinal: placed.document.ordinal,
      member: toMember(placed.document),
      reason: refusal.reason,
      message: refusal.message,
      place: refusal.where,
      received_at: placed.arrivals.receivedAt,
    })
    .onConflict((oc) =>
      oc.columns(['source_seq', 'ordinal']).doUpdateSet((eb) => ({
        member: eb.ref('excluded.member'),
        reason: eb.ref('excluded.reason'),
        message: eb.ref('excluded.message'),
        place: eb.ref('excluded.place'),
      })),
    )
    .execute();
  return 'rejected';
}

/** The first report of an identity is kept. Later content with the same identity never changes it. */
async function insertReport(tx: Tx, report: AggregateReport, placed: Placed): Promise<Outcome> {
  const { arrivals } = placed;
  if (placed.hasRemovals && (await isRemoved(tx, report))) return 'removed';
  const domain = await arrivals.findDomain(tx, report.policyPublished.domain);
  const position = arrivals.nextPosition(domain);
  const row = { ...toReportRow(report, domain, placed), position };
  const [inserted] = await runPrepared(tx, reportInsert(row));
  if (inserted === undefined) return await insertConflict(tx, row);
  arrivals.add(domain, row, report.sources);
  return domain.accountId === null ? 'unclaimed' : 'stored';
}

const anyRemoval = prepareQuery<Record<string, never>, { report_id: string }>((db) =>
  db.selectFrom('removed_payload').select('report_id').limit(1),
);

const removedPayload = prepareQuery<{ id: string; sha256: string }, { report_id: string }>(
  (db, param) =>
    db
      .selectFrom('removed_payload')
      .select('report_id')
      .where('report_id', '=', param('id'))
      .where('payload_sha256', '=', param('sha256')),
);

async function isRemoved(tx: Tx, report: AggregateReport): Promise<boolean> {
  const query = removedPayload({ id: toReportId(report), sha256: report.payloadSha256 });
  return (await runPrepared(tx, query)).length > 0;
}

type NewReport = ReturnType<typeof toReportRow> & { position: number };

const reportInsert = prepareQuery<NewReport, { seq: number }>((db, param) =>
  db
    .insertInto('report')
    .values({
      id: param('id'),
      domain_id: param('domain_id'),
      source_seq: param('source_seq'),
      member: param('member'),
      received_at: param('received_at'),
      reporter_org: param('reporter_org'),
      reporter_email: param('reporter_email'),
      report_id: param('report_id'),
      begin_date: param('begin_date'),
      end_date: param('end_date'),
      record_count: param('record_count'),
      total_messages: param('total_messages'),
      aligned_messages: param('aligned_messages'),
      payload_sha256: param('payload_sha256'),
      xml_namespace: param('xml_namespace'),
      version: param('version'),
      warnings: param('warnings'),
      position: param('position'),
    })
    // Without columns, because they differ between the engines. `insertConflict` throws when `id` is not the reason.
    .onConflict((oc) => oc.doNothing())
    .returning('seq'),
);

function toReportRow(report: AggregateReport, domain: ReportedDomain, placed: Placed) {
  return {
    id: toReportId(report),
    domain_id: domain.id,
    source_seq: placed.sourceSeq,
    member: toMember(placed.document),
    received_at: placed.arrivals.receivedAt,
    payload_sha256: report.payloadSha256,
    ...toContentRow(report),
  };
}

function toMember({ member }: ReceivedDocument): string | null {
  return member.length === 0 ? null : member.join(' > ');
}
