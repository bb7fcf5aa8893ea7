import type { AggregateReport } from '../domain/aggregate-report.ts';
import { type Instant, secondsToInstant } from '../domain/instant.ts';
import { Refusal } from '../domain/refusal.ts';
import { toReportId } from '../domain/report-identity.ts';
import { Arrivals, countArrivals } from './arrivals.ts';
import type { Db, Tx } from './database.ts';
import type { ReportedDomain } from './domains.ts';
import { insertOriginal, type Original, toOriginal } from './originals.ts';
import { prepareQuery, runPrepared } from './prepared.ts';

/** The bytes of one file or message, and what was found in them. */
export interface ReceivedSource {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly documents: readonly ReceivedDocument[];
}

export interface ReceivedDocument {
  /** Names of the containers' members it lay in, outermost first. */
  readonly member: readonly string[];
  /** The report, or why there is none. */
  readonly content: AggregateReport | Refusal;
}

/**
 * What became of a document (decisions, section 3): `unclaimed` is stored for a domain that nobody has
 * registered, `duplicate` is known already, `conflict` has a known report's identity and other content.
 */
export type Outcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'rejected';

/**
 * Stores what was received, all or nothing: original bytes, reports, refusals, and every count and head
 * that they change. Answers with an outcome for each document of each source.
 */
export async function insertReceived(
  db: Db,
  sources: readonly ReceivedSource[],
  receivedAt: Instant,
): Promise<Outcome[][]> {
  // Compressing needs no lock, so it is done before one is held.
  const originals = sources.map((source) => toOriginal(source, receivedAt));
  return await db.write(async (tx) => {
    const arrivals = new Arrivals(receivedAt);
    const outcomes: Outcome[][] = [];
    for (const [i, { documents }] of sources.entries()) {
      const original = await insertOriginal(tx, originals[i] as Original);
      const found: Outcome[] = [];
      for (const document of documents) {
        found.push(await insertDocument(tx, { ...original, document, arrivals }));
      }
      outcomes.push(found);
    }
    await countArrivals(tx, arrivals);
    return outcomes;
  });
}

interface Placed {
  readonly documentSeq: number;
  /** Whether these original bytes came in for the first time. */
  readonly isNew: boolean;
  readonly document: ReceivedDocument;
  readonly arrivals: Arrivals;
}

async function insertDocument(tx: Tx, placed: Placed): Promise<Outcome> {
  const { content } = placed.document;
  return content instanceof Refusal
    ? await insertRejection(tx, content, placed)
    : await insertReport(tx, content, placed);
}

/** A refusal of the same bytes is kept once. */
async function insertRejection(tx: Tx, refusal: Refusal, placed: Placed): Promise<Outcome> {
  if (placed.isNew) {
    await tx
      .insertInto('rejection')
      .values({
        document_seq: placed.documentSeq,
        member: toMember(placed.document),
        reason: refusal.reason,
        message: refusal.message,
        place: refusal.where,
        received_at: placed.arrivals.receivedAt,
      })
      .execute();
  }
  return 'rejected';
}

/** The first report of an identity stands; what comes later under the same identity never changes it. */
async function insertReport(tx: Tx, report: AggregateReport, placed: Placed): Promise<Outcome> {
  const { arrivals } = placed;
  const domain = await arrivals.findDomain(tx, report.policyPublished.domain);
  const row = toReportRow(report, domain, placed);
  const [inserted] = await runPrepared(tx, reportInsert(row));
  if (inserted === undefined) return await insertConflict(tx, report, placed);
  arrivals.add(domain, row, report.sources);
  return domain.accountId === null ? 'unclaimed' : 'stored';
}

const reportInsert = prepareQuery<ReturnType<typeof toReportRow>, { seq: number }>((db, param) =>
  db
    .insertInto('report')
    .values({
      id: param('id'),
      domain_id: param('domain_id'),
      document_seq: param('document_seq'),
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
    })
    .onConflict((oc) => oc.column('id').doNothing())
    .returning('seq'),
);

/** Same content again is a duplicate, which changes nothing; other content is kept beside the first. */
async function insertConflict(tx: Tx, report: AggregateReport, placed: Placed): Promise<Outcome> {
  const known = await tx
    .selectFrom('report')
    .select(['seq', 'payload_sha256'])
    .where('id', '=', toReportId(report))
    .executeTakeFirstOrThrow();
  if (known.payload_sha256 === report.payloadSha256) return 'duplicate';
  await tx
    .insertInto('conflict')
    .values({
      report_seq: known.seq,
      document_seq: placed.documentSeq,
      member: toMember(placed.document),
      payload_sha256: report.payloadSha256,
      received_at: placed.arrivals.receivedAt,
    })
    .onConflict((oc) => oc.columns(['report_seq', 'payload_sha256']).doNothing())
    .execute();
  return 'conflict';
}

function toReportRow(report: AggregateReport, domain: ReportedDomain, placed: Placed) {
  const { metadata, tally } = report;
  return {
    id: toReportId(report),
    domain_id: domain.id,
    document_seq: placed.documentSeq,
    member: toMember(placed.document),
    received_at: placed.arrivals.receivedAt,
    reporter_org: metadata.orgName,
    reporter_email: metadata.email,
    report_id: metadata.reportId,
    begin_date: secondsToInstant(metadata.begin),
    end_date: secondsToInstant(metadata.end),
    record_count: tally.recordCount,
    total_messages: tally.totalMessages,
    aligned_messages: tally.alignedMessages,
    payload_sha256: report.payloadSha256,
    xml_namespace: report.xmlNamespace,
    version: report.version,
    warnings: JSON.stringify(report.warnings),
  };
}

function toMember({ member }: ReceivedDocument): string | null {
  return member.length === 0 ? null : member.join(' > ');
}
