import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Db, Tx } from '../engine/database.ts';
import { isOfValues } from '../engine/open.ts';
import { type BoundQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { insertOriginals, type Original, type StoredOriginal } from '../inputs/originals.ts';
import { countArrivals } from './arrival-counts.ts';
import { Arrivals, DAY_COST, DOMAIN_COST } from './arrivals.ts';
import { rejectionDelete, rejectionUpsert } from './rejections.ts';
import { anyRemoval } from './report-rows.ts';
import { insertReports, type ReceivedReport, type ReportOutcome } from './reports.ts';

export interface ReceivedDocument {
  /** The input's row, from `keepOriginal`; the same object for each document of one input. */
  readonly original: Original;
  /** Its position among the documents of its input, from 0: the same when the input is read again. */
  readonly ordinal: number;
  /** Names of the container members that it was found in, outermost first. */
  readonly member: readonly string[];
  readonly content: AggregateReport | Refusal;
}

export type Outcome = ReportOutcome | 'rejected';

/**
 * The bounds of one transaction: documents, source addresses of reports, and time, whichever is reached first.
 * Counts and heads are written after that, so the write lock is held a little longer. Goal: 250 ms.
 */
const MAX_DOCUMENTS = 200;
const MAX_COUNT_COST = 2_500;
const MAX_MS = 50;
/** Documents, and bytes of their inputs, that the same statements store. After them, the time limit is checked. */
const GROUP_DOCUMENTS = 64;
const GROUP_BYTES = 1024 * 1024;

/**
 * Returns the outcome of each document. A transaction stores documents with their input's row and every count and
 * head that they change. When a process ends between two, storing the same documents again counts nothing twice.
 */
export async function insertReceived(
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
    const batch = documents.slice(outcomes.length, outcomes.length + atMost);
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
  const arrivals = new Arrivals(receivedAt);
  await arrivals.lockDomains(tx, new Set(documents.flatMap(toDomainName)));
  const hasRemovals = (await runPrepared(tx, anyRemoval({}))).length > 0;
  const transaction = { arrivals, originals: new Map(), hasRemovals };
  const outcomes: Outcome[] = [];
  while (outcomes.length < documents.length) {
    const group = takeGroup(documents.slice(outcomes.length), MAX_COUNT_COST - arrivals.countCost);
    outcomes.push(...(await insertGroup(tx, group, transaction)));
    if (arrivals.countCost >= MAX_COUNT_COST || performance.now() > endAt) break;
  }
  await countArrivals(tx, arrivals);
  return outcomes;
}

function toDomainName({ content }: ReceivedDocument): string[] {
  return content instanceof Refusal ? [] : [content.policyPublished.domain];
}

/** The first documents, at least one, whose counts cost no more than `maxCost`; the last may exceed it. */
function takeGroup(documents: readonly ReceivedDocument[], maxCost: number): ReceivedDocument[] {
  const group: ReceivedDocument[] = [];
  let [cost, bytes] = [0, 0];
  for (const document of documents.slice(0, GROUP_DOCUMENTS)) {
    const { content, original } = document;
    if (cost >= maxCost || bytes >= GROUP_BYTES) break;
    if (group.at(-1)?.original !== original) bytes += original.content.length;
    if (!(content instanceof Refusal)) cost += toMaxCost(content);
    group.push(document);
  }
  return group;
}

/** The most that the counts of one report can cost: those of a new domain. */
function toMaxCost({ sources = [] }: AggregateReport): number {
  return DOMAIN_COST + DAY_COST + sources.length;
}

interface Transaction {
  readonly arrivals: Arrivals;
  /** The inputs that the transaction has stored, or found. */
  readonly originals: Map<Original, StoredOriginal>;
  readonly hasRemovals: boolean;
}

async function insertGroup(
  tx: Tx,
  documents: readonly ReceivedDocument[],
  { arrivals, originals, hasRemovals }: Transaction,
): Promise<Outcome[]> {
  await insertOriginals(tx, documents, originals);
  const reports: ReceivedReport[] = [];
  const rejections: BoundQuery<never>[] = [];
  for (const { original, ordinal, member, content } of documents) {
    const { inputSeq, isKnown } = originals.get(original) as StoredOriginal;
    const at = { inputSeq, member: member.length === 0 ? null : member.join(' > ') };
    if (content instanceof Refusal) {
      const { reason, message, where } = content;
      const { receivedAt } = arrivals;
      rejections.push(rejectionUpsert({ ...at, ordinal, receivedAt, reason, message, where }));
    } else {
      reports.push({ ...at, report: content });
      if (isKnown) rejections.push(rejectionDelete({ inputSeq, ordinal }));
    }
  }
  // In the order of the documents: one input may be read twice, with another result.
  await runAllPrepared(tx, rejections);
  const outcomes = (await insertReports(tx, reports, { arrivals, hasRemovals })).values();
  return documents.map(({ content }) =>
    content instanceof Refusal ? 'rejected' : (outcomes.next().value as ReportOutcome),
  );
}
