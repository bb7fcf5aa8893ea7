import { toInstant } from '../domain/instant.ts';
import type { AggregateReport } from '../domain/reports/aggregate-report.ts';
import { Refusal } from '../domain/reports/refusal.ts';
import {
  insertReceived,
  type Outcome,
  type ReceivedDocument,
} from '../store/documents/documents.ts';
import type { Db } from '../store/engine/database.ts';
import { keepOriginal, type Original } from '../store/inputs/originals.ts';
import { estimateBytes } from './budget.ts';
import { NOTHING } from './containers/finding.ts';
import type { IntakeDocument } from './intake-document.ts';
import type { Parser } from './parser/parser.ts';

/** Documents that are stored together, and their estimated bytes in memory. */
const BATCH_DOCUMENTS = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/** The bytes of one file, mail or of standard input. */
export interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, in hex, when it is known already. */
  readonly sha256?: string;
}

/** An input that is read later. `read` throws when the input cannot be read. */
export interface InputToRead {
  readonly name: string;
  readonly read: () => Promise<Input>;
}

export interface IngestedDocument {
  readonly input: string;
  /** Where inside the input, outermost first. */
  readonly member: readonly string[];
  readonly outcome: Outcome | 'ignored';
  /** The report; null when there is a refusal that says why there is none. */
  readonly report: AggregateReport | null;
  readonly refusal: Refusal | null;
}

interface IngestDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly parser: Parser;
  /**
   * Which inputs are stored: every one, also those that only have a rejection; or those with a report, broken or not.
   * In a mailbox that people use, most mails are no reports, and only the inbox keeps them for a time.
   */
  readonly keeps?: 'every_input' | 'reports';
}

/**
 * Stores documents, many in one transaction, while the next inputs are read. A document is returned only after it is
 * committed. An input that cannot be read is a document with a refusal, and the next input is read.
 */
export async function* ingest(
  deps: IngestDeps,
  inputs: AsyncIterable<InputToRead>,
): AsyncGenerator<IngestedDocument> {
  const batches = toBatches(readAll(deps, inputs));
  for await (const batch of ahead(batches)) yield* store(deps, batch);
}

/** A document that was read. If its input could not be read, it has no original and is not stored. */
interface ReadDocument {
  readonly input: string;
  readonly original: Original | undefined;
  readonly ordinal: number;
  readonly document: IntakeDocument;
}

async function* readAll(
  deps: IngestDeps,
  inputs: AsyncIterable<InputToRead>,
): AsyncGenerator<ReadDocument> {
  for await (const { name, read } of inputs) {
    const input = await read().catch(toUnreadable);
    if (!(input instanceof Refusal)) yield* readInput(deps, input);
    else yield { input: name, original: undefined, ordinal: 0, document: toRejected(input) };
  }
}

function toUnreadable(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('unreadable', 'It cannot be read.');
}

const toRejected = (refusal: Refusal): IntakeDocument => ({
  kind: 'rejected',
  member: [],
  path: '',
  refusal,
});

/** The documents of an input. Its bytes are stored first, because the reading may be interrupted. */
async function* readInput(
  { db, now, parser, keeps = 'every_input' }: IngestDeps,
  input: Input,
): AsyncGenerator<ReadDocument> {
  const receivedAt = now();
  const keep = () => keepOriginal(db, input, toInstant(receivedAt));
  let original = keeps === 'every_input' ? await keep() : undefined;
  let ordinal = 0;
  for await (const document of parser.parse(input.bytes, { nowMs: receivedAt.getTime() })) {
    const at = { input: input.name, ordinal };
    ordinal += 1;
    if (keeps === 'reports' && isNothing(document)) {
      yield { ...at, original: undefined, document: { ...document, kind: 'ignored' } };
      continue;
    }
    original ??= await keep();
    yield { ...at, original, document };
  }
}

/** Whether it is all there is to say of an input without any report. */
function isNothing(
  document: IntakeDocument,
): document is Extract<IntakeDocument, { kind: 'rejected' }> {
  return document.kind === 'rejected' && NOTHING.has(document.refusal.reason);
}

async function* toBatches(documents: AsyncIterable<ReadDocument>): AsyncGenerator<ReadDocument[]> {
  let [batch, bytes]: [ReadDocument[], number] = [[], 0];
  for await (const document of documents) {
    batch.push(document);
    bytes += sizeOf(document);
    if (batch.length < BATCH_DOCUMENTS && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** The input's own bytes count with its first document. */
function sizeOf({ original, ordinal, document }: ReadDocument): number {
  const content = ordinal === 0 ? (original?.content.length ?? 0) : 0;
  return content + estimateBytes(document.kind === 'report' ? document.report : undefined);
}

/** The same items, each requested while the one before it is in use. At most one item is held. */
async function* ahead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // The error is thrown when the item is awaited.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function* store(
  { db, now }: IngestDeps,
  batch: readonly ReadDocument[],
): AsyncGenerator<IngestedDocument> {
  const received = batch.map(toReceived);
  const stored = received.filter((document) => document !== undefined);
  const outcomes = (await insertReceived(db, stored, toInstant(now()))).values();
  for (const [i, document] of batch.entries())
    yield toIngested(document, received[i] && (outcomes.next().value as Outcome));
}

/** undefined for a document that is not stored: something beside a report, or an input that could not be read. */
function toReceived({ original, ordinal, document }: ReadDocument): ReceivedDocument | undefined {
  if (original === undefined || document.kind === 'ignored') return undefined;
  const content = document.kind === 'report' ? document.report : document.refusal;
  return { original, ordinal, member: document.member, content };
}

function toIngested(
  { input, document }: ReadDocument,
  outcome: Outcome | undefined,
): IngestedDocument {
  const isReport = document.kind === 'report';
  return {
    input,
    member: document.member,
    outcome: outcome ?? (document.kind === 'ignored' ? 'ignored' : 'rejected'),
    report: isReport ? document.report : null,
    refusal: isReport ? null : document.refusal,
  };
}
