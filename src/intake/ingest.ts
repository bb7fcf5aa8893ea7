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
import { NOTHING } from './containers/finding.ts';
import type { Input, IntakeDocument } from './documents.ts';
import { ahead } from './inputs/ahead.ts';
import { PATTERN_ROW_BYTES, REPORT_ROW_BYTES, SOURCE_ROW_BYTES } from './limits.ts';
import type { Parser } from './parser/parser.ts';

/** Inputs that are read together have at most this many bytes, unless it is one input. */
const GROUP_BYTES = 1024 * 1024;
const GROUP_INPUTS = 64;
/** Documents that are stored together, and their estimated bytes in memory. */
const BATCH_DOCUMENTS = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/** An input that is read later. `read` throws when the input cannot be read. */
export interface InputToRead {
  readonly name: string;
  readonly read: () => Promise<Input>;
}

/** The result for one document. */
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
   * Which inputs are stored: every one, also those that only have a rejection; or those with a report, broken or
   * not. In a mailbox that people use, most mails are no reports, and only the inbox keeps them for a time.
   */
  readonly keeps?: 'every_input' | 'reports';
}

/**
 * Reads inputs and stores what is in them, many in one transaction, while the next ones are read. A document
 * is returned only after it is committed. An input that cannot be read is a document with a refusal, and the
 * next input is read.
 */
export async function* ingest(
  given: IngestDeps,
  inputs: AsyncIterable<InputToRead>,
): AsyncGenerator<IngestedDocument> {
  const batches = toBatches(readAll(given, inputs));
  for await (const batch of ahead(batches)) yield* store(given, batch);
}

/** A document that was read. If its input could not be read, it has no original and is not stored. */
interface ReadDocument {
  readonly input: string;
  readonly original: Original | undefined;
  readonly ordinal: number;
  readonly document: IntakeDocument;
}

async function* readAll(
  given: IngestDeps,
  inputs: AsyncIterable<InputToRead>,
): AsyncGenerator<ReadDocument> {
  for await (const group of toGroups(inputs)) {
    if (group instanceof Unreadable) yield group.toDocument();
    else yield* readGroup(given, group);
  }
}

/** Reads the inputs of a group. Their bytes are stored first, because the reading may be interrupted. */
async function* readGroup(
  { db, now, parser, keeps = 'every_input' }: IngestDeps,
  group: readonly Input[],
): AsyncGenerator<ReadDocument> {
  const receivedAt = now();
  const originals: (Original | undefined)[] = [];
  const keep = async (index: number) => {
    const input = group[index] as Input;
    originals[index] ??= await keepOriginal(db, input, toInstant(receivedAt));
  };
  if (keeps === 'every_input') for (const index of group.keys()) await keep(index);
  const counts = group.map(() => 0);
  const bytes = group.map((input) => input.bytes);
  for await (const { index, document } of parser.read(bytes, receivedAt.getTime())) {
    const ordinal = counts[index] ?? 0;
    counts[index] = ordinal + 1;
    const { name: input } = group[index] as Input;
    if (keeps === 'reports' && isNothing(document)) {
      yield { input, original: undefined, ordinal, document: { ...document, kind: 'ignored' } };
      continue;
    }
    await keep(index);
    yield { input, original: originals[index], ordinal, document };
  }
}

/** Whether it is all there is to say of an input without any report. */
function isNothing(
  document: IntakeDocument,
): document is Extract<IntakeDocument, { kind: 'rejected' }> {
  return document.kind === 'rejected' && NOTHING.has(document.refusal.reason);
}

/** An input that could not be read. */
class Unreadable {
  readonly #name: string;
  readonly #refusal: Refusal;

  constructor(name: string, error: unknown) {
    this.#name = name;
    this.#refusal =
      error instanceof Refusal ? error : new Refusal('unreadable', 'It cannot be read.');
  }

  toDocument(): ReadDocument {
    const document = { kind: 'rejected', member: [], refusal: this.#refusal } as const;
    return { input: this.#name, original: undefined, ordinal: 0, document };
  }
}

/** Small inputs in groups, each large one by itself, in their order. */
async function* toGroups(inputs: AsyncIterable<InputToRead>): AsyncGenerator<Input[] | Unreadable> {
  let [group, size]: [Input[], number] = [[], 0];
  for await (const { name, read } of inputs) {
    const input = await read().catch((error: unknown) => new Unreadable(name, error));
    const isUnreadable = input instanceof Unreadable;
    const bytes = isUnreadable ? 0 : input.bytes.length;
    const isFull = size + bytes > GROUP_BYTES || group.length >= GROUP_INPUTS;
    if (group.length > 0 && (isUnreadable || isFull)) {
      yield group;
      [group, size] = [[], 0];
    }
    if (isUnreadable) yield input;
    else {
      group.push(input);
      size += bytes;
    }
  }
  if (group.length > 0) yield group;
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
  const sources = document.kind === 'report' ? (document.report.sources ?? []) : [];
  const content = ordinal === 0 ? (original?.content.length ?? 0) : 0;
  const patterns = sources.flatMap((source) => source.patterns ?? []);
  const texts = patterns.reduce((sum, { pattern }) => sum + PATTERN_ROW_BYTES + pattern.length, 0);
  return REPORT_ROW_BYTES + sources.length * SOURCE_ROW_BYTES + texts + content;
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

/**
 * undefined for a document that is not stored: something beside a report, or an input that could not be read.
 */
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
