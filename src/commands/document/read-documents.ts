import { Failure } from '../../domain/failure.ts';
import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import { isMailName } from '../../intake/inbox/mail-reading.ts';
import {
  type IngestDeps,
  type IngestedDocument,
  type InputToRead,
  ingest,
} from '../../intake/ingest.ts';
import { findDocument, type KnownDocument } from '../../store/documents/document-rows.ts';
import { readOriginal } from '../../store/documents/originals.ts';
import { deleteOtherRejections } from '../../store/documents/rejections.ts';
import type { Db } from '../../store/engine/database.ts';

type RereadDeps = Omit<IngestDeps, 'now'>;

/** Reasons for which the rest was not read, so that nothing is known of it. */
const CUT_SHORT: ReadonlySet<RefusalReason> = new Set([
  'unreadable',
  'too_large',
  'too_costly',
  'reader_failed',
]);

/**
 * Reads stored originals again, and stores what today's parser finds in them, as received when their input was. One
 * original after the other, so that it is known which rejections it has no more.
 */
export async function* rereadDocuments(
  deps: RereadDeps,
  seqs: AsyncIterable<number>,
): AsyncGenerator<IngestedDocument> {
  for await (const seq of seqs) yield* readDocument(deps, await findDocument(deps.db, seq));
}

async function* readDocument(
  { db, ...others }: RereadDeps,
  document: KnownDocument,
): AsyncGenerator<IngestedDocument> {
  const receivedAt = new Date(document.receivedAt);
  const deps = { db, now: () => receivedAt, ...others };
  const rejected = new Set<string>();
  let isWhole = true;
  for await (const found of ingest(deps, toInputs(db, document))) {
    const { path, outcome, refusal } = found;
    if (outcome === 'rejected' && path !== undefined) rejected.add(path);
    isWhole &&= refusal === null || !CUT_SHORT.has(refusal.reason);
    yield found;
  }
  if (isWhole) await deleteOtherRejections(db, document, rejected);
}

async function* toInputs(db: Db, document: KnownDocument): AsyncGenerator<InputToRead> {
  const { seq, ...stored } = document;
  const { name } = stored.input;
  const read = async () => {
    const bytes = await readOriginal(db, seq).catch((error) => {
      throw error instanceof Failure ? new Refusal('unreadable', error.message) : error;
    });
    // What DNS says of a mail's sender today is not what it said when the mail came.
    return { name, bytes, stored, ...(isMailName(name) && { verdict: { signers: [] } }) };
  };
  yield { name, read };
}
