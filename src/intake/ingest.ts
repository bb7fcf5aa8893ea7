import type { AggregateReport } from '../domain/aggregate-report.ts';
import { toInstant } from '../domain/instant.ts';
import { Refusal } from '../domain/refusal.ts';
import { insertReceived, type Outcome, type ReceivedDocument } from '../store/documents.ts';
import type { Store } from '../store/open.ts';
import { type IntakeDocument, readDocuments, type Source } from './documents.ts';

/** One transaction stores at most so many sources, or so many bytes of them and one more source. */
const BATCH_SOURCES = 200;
const BATCH_BYTES = 8 * 1024 * 1024;

/** Something that can be read, once its turn comes. `read` throws a Refusal when it cannot be. */
export interface SourceToRead {
  readonly name: string;
  readonly read: () => Promise<Source>;
}

/** What became of one document. */
export interface IngestedDocument {
  readonly source: string;
  /** Where inside the source, outermost first. */
  readonly member: readonly string[];
  readonly outcome: Outcome | 'ignored';
  /** There is a report, or a refusal that says why there is none. */
  readonly report: AggregateReport | null;
  readonly refusal: Refusal | null;
}

interface Given {
  readonly db: Store['db'];
  readonly now: () => Date;
}

interface ReadSource extends Source {
  readonly documents: readonly IntakeDocument[];
}

/**
 * Reads sources and stores what is in them, many in one transaction. A document is given out only once it
 * is stored for good. What cannot be read is a document with a refusal, and the next source is read.
 */
export async function* ingest(
  given: Given,
  sources: AsyncIterable<SourceToRead>,
): AsyncGenerator<IngestedDocument> {
  let batch: ReadSource[] = [];
  let bytes = 0;
  for await (const source of sources) {
    const read = await readWhole(source, given);
    if ('refusal' in read) {
      yield* await store(given, batch);
      yield read;
    } else {
      batch.push(read);
      bytes += read.bytes.length;
      if (batch.length < BATCH_SOURCES && bytes < BATCH_BYTES) continue;
      yield* await store(given, batch);
    }
    [batch, bytes] = [[], 0];
  }
  yield* await store(given, batch);
}

async function readWhole(
  { name, read }: SourceToRead,
  { now }: Given,
): Promise<ReadSource | IngestedDocument> {
  try {
    const source = await read();
    const documents = await Array.fromAsync(readDocuments(source, () => now().getTime()));
    return { ...source, documents };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { source: name, member: [], outcome: 'rejected', report: null, refusal: error };
  }
}

async function store(
  { db, now }: Given,
  batch: readonly ReadSource[],
): Promise<IngestedDocument[]> {
  if (batch.length === 0) return [];
  const received = batch.map(({ name, bytes, documents }) => ({
    name,
    bytes,
    documents: documents.filter(({ kind }) => kind !== 'ignored').map(toReceived),
  }));
  const outcomes = await insertReceived(db, received, toInstant(now()));
  return batch.flatMap(({ name, documents }, i) => {
    const stored = (outcomes[i] ?? []).values();
    return documents.map((document) => toIngested(name, document, stored));
  });
}

function toReceived(document: IntakeDocument): ReceivedDocument {
  const content = document.kind === 'report' ? document.report : document.refusal;
  return { member: document.member, content };
}

/** Takes the next outcome for each document that was stored; an ignored one has none. */
function toIngested(
  source: string,
  document: IntakeDocument,
  outcomes: Iterator<Outcome>,
): IngestedDocument {
  const outcome = document.kind === 'ignored' ? 'ignored' : (outcomes.next().value as Outcome);
  return {
    source,
    member: document.member,
    outcome,
    report: document.kind === 'report' ? document.report : null,
    refusal: document.kind === 'report' ? null : document.refusal,
  };
}
