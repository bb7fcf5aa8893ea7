import type { Instant } from '../../domain/instant.ts';
import type { MailProof } from '../../domain/reports/authentication.ts';
import type { Original } from '../../domain/reports/original.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { domainOf, type Report } from '../../domain/reports/report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import {
  type DocumentPlace,
  insertDocuments,
  ORIGINAL_PART_BYTES,
  toDocumentRow,
} from '../documents/document-rows.ts';
import { insertParts } from '../documents/originals.ts';
import { toRejectionChange } from '../documents/rejections.ts';
import type { Db, Tx } from '../engine/database.ts';
import { isOfValues } from '../engine/open.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { trimDoubtful } from './aging/doubtful.ts';
import { preferAuthenticated } from './authenticated.ts';
import { insertConflict } from './conflicts.ts';
import { takeGroup } from './document-groups.ts';
import { isStored, type PlannedReport, Planning, type ReportOutcome } from './planning.ts';
import type { Arrived } from './report-row.ts';
import { type DocumentSender, judgeReporters } from './senders.ts';
import { storeReports } from './storing.ts';

export interface ReceivedDocument extends DocumentPlace, DocumentSender {
  /** null when it is too large to be kept, or stored already. */
  readonly original: Original | null;
  readonly content: Report | Refusal;
}

export type Outcome = ReportOutcome | 'rejected';

/**
 * The bounds of one transaction: documents, and time. Reports, days and heads are written after that, so the write lock is
 * held a little longer. Goal: 250 ms.
 */
const MAX_DOCUMENTS = 200;
const MAX_MS = 50;

/**
 * A transaction ends after a domain with so many documents: other processes store those of other domains meanwhile. Many
 * domains with few documents share a transaction, because each costs as many round trips to the database.
 */
const MANY_OF_DOMAIN = 16;

/**
 * Returns the outcome of each document. A transaction stores documents with their originals and every count and head
 * that they change. When a process ends between two, storing the same documents again counts nothing twice. Documents of
 * a domain are stored together, in their order.
 */
export async function insertReceived(
  db: Db,
  received: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const prepared = await prepareAll(db, received, receivedAt);
  const order = toOrder(prepared);
  const sorted = order.map((i) => prepared[i] as ReceivedDocument);
  const outcomes: Outcome[] = [];
  for (const [at, outcome] of (await insertSorted(db, sorted, receivedAt)).entries()) {
    outcomes[order[at] ?? 0] = outcome;
    await preferSender(db, sorted[at] as ReceivedDocument, { outcome, receivedAt });
  }
  return outcomes;
}

/** After a kill between the two, the mail is read again, and is a duplicate or a conflict again. */
async function preferSender(
  db: Db,
  { content, authenticated, claimed }: ReceivedDocument,
  { outcome, receivedAt }: { readonly outcome: Outcome; readonly receivedAt: Instant },
): Promise<void> {
  const isKnown = outcome === 'duplicate' || outcome === 'conflict';
  if (!isKnown || !authenticated || isRefusal(content)) return;
  const { payloadSha256 } = content;
  const known = { id: toReportId(content), payloadSha256, authenticated, claimed };
  await preferAuthenticated(db, known, receivedAt);
}

/** By domain. All in the given order when the same bytes were read twice, with different domains: the last one counts. */
function toOrder(documents: readonly ReceivedDocument[]): number[] {
  const domains = documents.map(toDomain);
  const byPlace = new Map<string, string>();
  for (const [i, { input, path }] of documents.entries()) {
    const [place, domain = ''] = [`${input.sha256} ${path}`, domains[i]];
    if ((byPlace.get(place) ?? domain) !== domain) return [...documents.keys()];
    byPlace.set(place, domain);
  }
  return [...documents.keys()].sort((a, b) => compare(domains[a] ?? '', domains[b] ?? ''));
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

async function insertSorted(
  db: Db,
  documents: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const insert = async (batch: readonly ReceivedDocument[]) => {
    outcomes.push(...(await db.write((tx) => insertBatch(tx, batch, receivedAt))));
  };
  let atMost = MAX_DOCUMENTS;
  while (outcomes.length < documents.length) {
    const batch = takeBatch(documents.slice(outcomes.length, outcomes.length + atMost));
    const [first] = batch as [ReceivedDocument];
    try {
      await insert(batch);
    } catch (error) {
      if (!isCausedByDocument(error)) throw error;
      // The documents are then stored one by one, so that only the one that fails is rejected.
      if (batch.length === 1) await insert([{ ...first, content: UNSTORABLE }]);
      atMost = batch.length === 1 ? MAX_DOCUMENTS : 1;
    }
  }
  return outcomes;
}

function takeBatch(documents: readonly ReceivedDocument[]): readonly ReceivedDocument[] {
  let begin = 0;
  for (const [i, document] of documents.entries()) {
    if (toDomain(document) === toDomain(documents[begin] as ReceivedDocument)) continue;
    if (i - begin >= MANY_OF_DOMAIN) return documents.slice(0, i);
    begin = i;
  }
  return documents;
}

/** Empty when there is no report. */
const toDomain = ({ content }: ReceivedDocument): string =>
  isRefusal(content) ? '' : domainOf(content);

/** Stores the parts of large originals, except those of duplicates and conflicts. */
async function prepareAll(
  db: Db,
  documents: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<readonly ReceivedDocument[]> {
  const prepared: ReceivedDocument[] = [];
  for (const document of documents) {
    const { original, content } = document;
    const isLarge = original !== null && original.content.length > ORIGINAL_PART_BYTES;
    const isKnown = isLarge && !isRefusal(content) && (await isStored(db, content));
    if (isLarge && !isKnown) await insertParts(db, document, { original, receivedAt });
    prepared.push(isKnown ? { ...document, original: null } : document);
  }
  return prepared;
}

const UNSTORABLE = new Refusal('reader_failed', 'What was read could not be stored.');

/** Whether the values of one document caused the error, so that other documents can still be stored. */
function isCausedByDocument(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || isOfValues(error);
}

/** Stores the first documents, at least one, and returns their outcomes. */
async function insertBatch(
  tx: Tx,
  documents: readonly ReceivedDocument[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const endAt = performance.now() + MAX_MS;
  const planning = new Planning(receivedAt);
  await planning.lockDomains(tx, new Set(documents.map(toDomain).filter(Boolean)));
  const stored: StoredDocument[] = [];
  while (stored.length < documents.length) {
    const group = takeGroup(documents.slice(stored.length));
    stored.push(...(await insertGroup(tx, group, { planning, receivedAt })));
    if (performance.now() > endAt) break;
  }
  const added = stored.flatMap(({ plan, arrived }) => {
    if (plan?.added === undefined || arrived === undefined) return [];
    const { row, ...content } = plan.added;
    return { ...content, row: { ...row, ...arrived }, isConflict: plan.outcome === 'conflict' };
  });
  await storeReports(
    tx,
    added.filter(({ isConflict }) => !isConflict),
    receivedAt,
  );
  for (const { row, isConflict } of added) if (isConflict) await insertConflict(tx, row);
  const doubtful = added.filter(
    ({ row, domain }) => domain.accountId !== null && row.doubt !== null,
  );
  for (const id of new Set(doubtful.map(({ domain }) => domain.id)))
    await trimDoubtful(tx, id, { now: receivedAt });
  return stored.map(({ plan }) => plan?.outcome ?? 'rejected');
}

interface StoredDocument {
  /** undefined for a document that is no report. */
  readonly plan: PlannedReport | undefined;
  /** undefined when no row of the document is kept. */
  readonly arrived: Arrived | undefined;
}

/** Stores how the documents came, and those that are no reports. */
async function insertGroup(
  tx: Tx,
  received: readonly ReceivedDocument[],
  { planning, receivedAt }: { readonly planning: Planning; readonly receivedAt: Instant },
): Promise<StoredDocument[]> {
  const judged = received.map((one) => ({ ...one, about: planning.findOwned(toDomain(one)) }));
  const proofs = await judgeReporters(tx, judged, receivedAt);
  const plans = await planAll(tx, received, { planning, proofs });
  const isNew = (i: number) => plans[i] === undefined || plans[i].added !== undefined;
  const rows = received.map((document, i) =>
    toDocumentRow(document, receivedAt, isNew(i) ? document.original : null),
  );
  const stored = await insertDocuments(tx, rows, new Set(rows.filter((_, i) => isNew(i))));
  // In the order of the documents: one input may be read twice, with another result.
  const rejections = stored.flatMap((one, i) => toRejectionChange(one, received[i]?.content));
  await runAllPrepared(tx, rejections);
  return plans.map((plan, i) => {
    const [proof, document_seq] = [proofs[i], stored[i]?.seq];
    const isKept = proof !== undefined && document_seq !== undefined;
    return {
      plan,
      arrived: isKept ? { document_seq, received_at: receivedAt, ...proof } : undefined,
    };
  });
}

/** undefined for each document that is no report. */
async function planAll(
  tx: Tx,
  documents: readonly ReceivedDocument[],
  { planning, proofs }: { readonly planning: Planning; readonly proofs: readonly MailProof[] },
): Promise<(PlannedReport | undefined)[]> {
  const reports = documents.flatMap(({ content, ...place }, i) =>
    isRefusal(content) ? [] : [{ report: content, place, proof: proofs[i] as MailProof }],
  );
  const planned = (await planning.plan(tx, reports)).values();
  return documents.map(({ content }) => (isRefusal(content) ? undefined : planned.next().value));
}

const isRefusal = (content: Report | Refusal): content is Refusal => content instanceof Refusal;
