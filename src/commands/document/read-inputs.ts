import { Failure } from '../../domain/failure.ts';
import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import { type IngestedDocument, type InputToRead, ingest } from '../../intake/ingest.ts';
import { deleteOtherRejections } from '../../store/documents/rejections.ts';
import type { Db } from '../../store/engine/database.ts';
import type { StoredInput } from '../../store/inputs/inputs.ts';
import { readOriginal } from '../../store/inputs/originals.ts';
import { type RereadDeps, toFailure } from './read-again.ts';

/** Inputs that are stored in common transactions. */
const GROUP_INPUTS = 200;

/** Reads stored inputs again, and stores what today's parser finds in them. */
export async function* readInputs(
  deps: RereadDeps,
  inputs: AsyncIterable<StoredInput>,
): AsyncGenerator<IngestedDocument> {
  let group: StoredInput[] = [];
  for await (const input of inputs) {
    const isOther = group[0]?.receivedAt !== input.receivedAt || group.length >= GROUP_INPUTS;
    if (isOther) {
      yield* readGroup(deps, group);
      group = [];
    }
    group.push(input);
  }
  yield* readGroup(deps, group);
}

/** Reasons for which the rest of an input was not read, so that nothing is known of it. */
const CUT_SHORT: ReadonlySet<RefusalReason> = new Set([
  'unreadable',
  'too_large',
  'too_costly',
  'reader_failed',
]);

interface Reading {
  readonly input: StoredInput;
  readonly rejected: Set<number>;
  documents: number;
  isWhole: boolean;
}

/** Reads inputs that were received at the same time, with that time as the clock. */
async function* readGroup(
  { store: { db }, parser }: RereadDeps,
  group: readonly StoredInput[],
): AsyncGenerator<IngestedDocument> {
  const [first] = group;
  if (first === undefined) return;
  const receivedAt = new Date(first.receivedAt);
  const readings = new Map<string, Reading>();
  for (const input of group)
    readings.set(`${input.seq}`, { input, rejected: new Set(), documents: 0, isWhole: true });
  const deps = { db, now: () => receivedAt, parser };
  for await (const document of ingest(deps, toInputs(db, group))) {
    const reading = readings.get(document.input) as Reading;
    note(reading, document);
    yield { ...document, input: reading.input.name };
  }
  for (const { input, rejected, isWhole } of readings.values())
    if (isWhole) await deleteOtherRejections(db, input.seq, rejected);
}

function note(reading: Reading, { outcome, refusal }: IngestedDocument): void {
  if (outcome === 'rejected') reading.rejected.add(reading.documents);
  if (refusal !== null && CUT_SHORT.has(refusal.reason)) reading.isWhole = false;
  reading.documents += 1;
}

/** Named by their numbers, because several can have the same name. */
async function* toInputs(db: Db, inputs: readonly StoredInput[]): AsyncGenerator<InputToRead> {
  for (const { seq } of inputs) {
    const name = `${seq}`;
    const read = async () => {
      const original = await readOriginal(db, seq).catch(toFailure);
      if (original instanceof Failure) throw new Refusal('unreadable', original.message);
      return { name, bytes: original.bytes };
    };
    yield { name, read };
  }
}
