import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { type Original, unpackOriginal } from '../../domain/reports/original.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import {
  type DocumentPlace,
  insertDocuments,
  ORIGINAL_PART_BYTES,
  toDocumentRow,
  toInputHash,
} from './document-rows.ts';

/*
 * The bytes in which documents came, kept so that people can have them and a newer parser can read them again. No
 * transaction writes more than one part of an original, whatever its size.
 */

/**
 * Stores the parts of a large original but the first, one transaction each, with the row of its document. The first is
 * stored together with what the document is, so an original without it does not count. After a kill, the same document
 * finds its row again when its input comes again; else the parts stay, within what came in.
 */
export async function insertParts(
  db: Db,
  place: DocumentPlace,
  { original: { content }, receivedAt }: { original: Original; receivedAt: Instant },
): Promise<void> {
  const seq = await db.write(async (tx) => {
    const [stored] = await insertDocuments(tx, [toDocumentRow(place, receivedAt, null)]);
    return stored?.seq as number;
  });
  const document = db.selectFrom('document').select('content_bytes').where('seq', '=', seq);
  if ((await document.executeTakeFirst())?.content_bytes !== null) return;
  for (let part = 1; part * ORIGINAL_PART_BYTES < content.length; part += 1) {
    const bytes = content.subarray(part * ORIGINAL_PART_BYTES, (part + 1) * ORIGINAL_PART_BYTES);
    await db.write((tx) => upsertPart(tx, { document_seq: seq, part, content: bytes }));
  }
}

export type StoredOriginal = Awaited<ReturnType<typeof findOriginal>>;

/**
 * An original in its `encoding`, whose bytes are read a part at a time: the first, and all of them. Throws `not_found` when
 * only is stored that the document came.
 */
export async function findOriginal(db: Queries, seq: number) {
  const row = await db
    .selectFrom('document')
    .select(['encoding', 'content_bytes as size', 'content'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  const { size, content } = row ?? {};
  const encoding: Original['encoding'] = row?.encoding ?? 'as_is';
  if (typeof size === 'number' && content)
    return { encoding, size, first: content, parts: readParts(db, seq, content) };
  const missing = typeof size === 'number' ? 'is not kept any more' : 'was not kept';
  throw new Failure('not_found', `The original of this document ${missing}.`);
}

/** One query for each part, because SQLite blocks the event loop during a query. */
async function* readParts(db: Queries, seq: number, first: Uint8Array): AsyncGenerator<Uint8Array> {
  yield first;
  for (let part = 1, { length } = first; length === ORIGINAL_PART_BYTES; part += 1) {
    const row = await db
      .selectFrom('document_part')
      .select('content')
      .where(({ and }) => and({ document_seq: seq, part }))
      .executeTakeFirst();
    if (row === undefined) return;
    yield row.content;
    ({ length } = row.content);
  }
}

/** The bytes as they came. Throws `not_found` when they are not stored, or not all of them. */
export async function readOriginal(db: Queries, seq: number): Promise<Uint8Array> {
  const { parts, ...original } = await findOriginal(db, seq);
  const pieces = await Array.fromAsync(parts);
  const [only, ...others] = pieces;
  const content = only !== undefined && others.length === 0 ? only : Buffer.concat(pieces);
  const bytes = await unpackOriginal({ ...original, content });
  if (bytes !== undefined) return bytes;
  throw new Failure('not_found', 'The original of this document is not complete.');
}

export async function findWholeInput(db: Queries, sha256: string): Promise<Uint8Array | undefined> {
  const kept = db.selectFrom('document').select('seq').where('content', 'is not', null);
  const whole = kept.where('input_sha256', '=', toInputHash(sha256)).where('path', '=', '');
  const document = await whole.executeTakeFirst();
  return document && (await readOriginal(db, document.seq));
}

/** Deletes documents that nothing refers to any more, except rejections. */
export async function deleteDocuments(tx: Tx, seqs: readonly number[]): Promise<void> {
  await tx.deleteFrom('rejection').where('document_seq', 'in', seqs).execute();
  await tx.deleteFrom('document_part').where('document_seq', 'in', seqs).execute();
  await tx.deleteFrom('document').where('seq', 'in', seqs).execute();
}

/** The documents stay, with the sizes of their originals: so none is stored again when its input comes again. */
export async function deleteOriginals(tx: Tx, seqs: readonly number[]): Promise<void> {
  await tx.deleteFrom('document_part').where('document_seq', 'in', seqs).execute();
  await tx.updateTable('document').set({ content: null }).where('seq', 'in', seqs).execute();
}

/** A part that a reading left which was interrupted may have other bytes, of an older version. */
async function upsertPart(tx: Tx, { content, ...key }: Tables['document_part']): Promise<void> {
  const inserted = tx.insertInto('document_part').values({ ...key, content });
  await inserted
    .onConflict((oc) => oc.columns(['document_seq', 'part']).doUpdateSet({ content }))
    .execute();
}
