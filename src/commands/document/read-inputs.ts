import { Failure } from '../../domain/failure.ts';
import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import { type IngestedDocument, ingest, type SourceToRead } from '../../intake/ingest.ts';
import type { Db } from '../../store/engine/database.ts';
import { deleteOtherRejections, type StoredSource } from '../../store/inputs/inputs.ts';
import { readOriginal } from '../../store/inputs/originals.ts';
import type { Given } from './read-again.ts';

/** Sources that are stored in common transactions. */
const GROUP_SOURCES = 200;

/** Reads stored sources again, and stores what today's parser finds in them. */
export async function* readSources(
  given: Given,
  sources: AsyncIterable<StoredSource>,
): AsyncGenerator<IngestedDocument> {
  let group: StoredSource[] = [];
  for await (const source of sources) {
    const isOther = group[0]?.receivedAt !== source.receivedAt || group.length >= GROUP_SOURCES;
    if (isOther) {
      yield* readGroup(given, group);
      group = [];
    }
    group.push(source);
  }
  yield* readGroup(given, group);
}

/** Reasons for which the rest of a source was not read, so that nothing is known of it. */
const CUT_SHORT: ReadonlySet<RefusalReason> = new Set([
  'unreadable',
  'too_large',
  'too_costly',
  'reader_failed',
]);

/** What reading a source again has found so far. */
interface Reading {
  readonly source: StoredSource;
  readonly rejected: Set<number>;
  documents: number;
  isWhole: boolean;
}

/** Reads sources that came in at the same time as when they came in, and at that time. */
async function* readGroup(
  { store: { db }, documentReader }: Given,
  group: readonly StoredSource[],
): AsyncGenerator<IngestedDocument> {
  const [first] = group;
  if (first === undefined) return;
  const receivedAt = new Date(first.receivedAt);
  const readings = new Map(group.map((source) => [`${source.seq}`, toReading(source)]));
  const given = { db, now: () => receivedAt, documentReader };
  for await (const document of ingest(given, toSources(db, group))) {
    const reading = readings.get(document.source) as Reading;
    note(reading, document);
    yield { ...document, source: reading.source.name };
  }
  for (const { source, rejected, isWhole } of readings.values())
    if (isWhole) await deleteOtherRejections(db, source.seq, rejected);
}

function toReading(source: StoredSource): Reading {
  return { source, rejected: new Set(), documents: 0, isWhole: true };
}

function note(reading: Reading, { outcome, refusal }: IngestedDocument): void {
  if (outcome === 'rejected') reading.rejected.add(reading.documents);
  if (refusal !== null && CUT_SHORT.has(refusal.reason)) reading.isWhole = false;
  reading.documents += 1;
}

/** Named by their numbers, because several can have the same name. */
async function* toSources(db: Db, sources: readonly StoredSource[]): AsyncGenerator<SourceToRead> {
  for (const { seq } of sources) {
    const name = `${seq}`;
    const read = async () => ({ name, bytes: (await readStored(db, seq)).bytes });
    yield { name, read };
  }
}

function readStored(db: Db, seq: number) {
  return readOriginal(db, seq).catch((error: unknown) => {
    if (error instanceof Failure) throw new Refusal('unreadable', error.message);
    throw error;
  });
}
