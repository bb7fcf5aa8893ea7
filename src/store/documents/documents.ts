import { type Instant, secondsToInstant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Db, Tx } from '../engine/database.ts';
import { isOfValues } from '../engine/database-error.ts';
import { runPrepared } from '../engine/prepared.ts';
import { countArrivals } from './arrival-counts.ts';
import { Arrivals, DAY_COST, DOMAIN_COST } from './arrivals.ts';
import type { Outcome, ReceivedDocument } from './received/document.ts';
import { insertGroup } from './received/group.ts';
import { anyRemoval } from './received/report-rows.ts';

export type { Outcome, ReceivedDocument } from './received/document.ts';

/**
 * The bounds of one transaction: documents, rows of source addresses, and time, whichever is reached first.
 * Counts and heads are written after that, so the write lock is held a little longer. Goal: 250 ms.
 */
const MAX_DOCUMENTS = 200;
const MAX_COUNT_COST = 2_500;
const MAX_MS = 50;
/**
 * Documents that are stored with the same statements, and bytes of their inputs. Between groups, a transaction looks
 * at the clock.
 */
const GROUP_DOCUMENTS = 64;
const GROUP_BYTES = 1024 * 1024;
/** The name of a report's organisation is a text, as a pattern is. */
const REPORTER_COST = 1;

/**
 * Stores documents in as many transactions as their bounds require, and returns the outcome of each. A
 * transaction stores documents with their input's row and every count and head that they change. When a
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
  const some = documents.slice(0, MAX_DOCUMENTS);
  await arrivals.lockDomains(tx, toDomainNames(some));
  const hasRemovals = (await runPrepared(tx, anyRemoval({}))).length > 0;
  const transaction = { arrivals, originals: new Map(), hasRemovals };
  const outcomes: Outcome[] = [];
  while (outcomes.length < some.length) {
    const group = takeGroup(some.slice(outcomes.length), MAX_COUNT_COST - arrivals.countCost);
    outcomes.push(...(await insertGroup(tx, group, transaction)));
    if (arrivals.countCost >= MAX_COUNT_COST || performance.now() > endAt) break;
  }
  await countArrivals(tx, arrivals);
  return outcomes;
}

/** The names of the domains that documents are about. */
function toDomainNames(documents: readonly ReceivedDocument[]): Set<string> {
  return new Set(documents.map(toDomainName).filter((name) => name !== undefined));
}

function toDomainName({ content }: ReceivedDocument): string | undefined {
  return content instanceof Refusal ? undefined : content.policyPublished.domain;
}

/** The first documents, at least one, whose counts cost no more than `maxCost` but for the last one's. */
function takeGroup(documents: readonly ReceivedDocument[], maxCost: number): ReceivedDocument[] {
  const group: ReceivedDocument[] = [];
  const known: Known = { names: new Set(), patterns: new Map() };
  let [cost, bytes] = [0, 0];
  for (const document of documents.slice(0, GROUP_DOCUMENTS)) {
    const { content, original } = document;
    if (cost >= maxCost || bytes >= GROUP_BYTES) break;
    if (group.at(-1)?.original !== original) bytes += original.content.length;
    if (!(content instanceof Refusal)) cost += toCost(content, known);
    group.push(document);
  }
  return group;
}

/** The domains of the group's reports so far, and their patterns by month. */
interface Known {
  readonly names: Set<string>;
  readonly patterns: Map<string, Set<string>>;
}

/** The most that a report's counts can cost. Its domain and its patterns are added to the known ones. */
function toCost(report: AggregateReport, { names, patterns }: Known): number {
  const { metadata, policyPublished, sources = [] } = report;
  const { domain } = policyPublished;
  const isNew = !names.has(domain);
  names.add(domain);
  const month = `${domain} ${secondsToInstant(metadata.begin).slice(0, 7)}`;
  const texts = patterns.get(month) ?? new Set();
  patterns.set(month, texts);
  const before = texts.size;
  for (const input of sources) for (const { pattern } of input.patterns ?? []) texts.add(pattern);
  const own = sources.length + texts.size - before + REPORTER_COST;
  return own + DAY_COST + (isNew ? DOMAIN_COST : 0);
}
