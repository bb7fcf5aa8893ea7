import { hash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../connection/database.ts';
import { prepareQuery, runPrepared } from '../connection/prepared.ts';

/*
 * The original bytes of a source, kept so that a better parser can read them again. They are stored in parts,
 * each compressed by itself, so that no transaction writes more than one part whatever the source's size.
 */

/**
 * Bytes of the source in one part. Nearly all sources have one part, which is stored in the source's own
 * row.
 */
const PART_BYTES = 1024 * 1024;
/** File names come from outside and can have any length. */
const MAX_NAME_CHARS = 1_000;

/** A source's row, with its first part. */
export type Original = ReturnType<typeof toRow>;

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, in hex, when it is known already. */
  readonly sha256?: string;
}

/**
 * Prepares the row of a source, which `insertOriginal` writes together with the first document found in it.
 * The parts of a larger source are written now, one transaction each, before anything is read from it.
 */
export async function keepOriginal(db: Db, source: Source, receivedAt: Instant): Promise<Original> {
  const { bytes } = source;
  const original = toRow(source, receivedAt);
  if (bytes.length <= PART_BYTES) return original;
  const { sourceSeq } = await db.write((tx) => insertOriginal(tx, original));
  for (let part = 1; part * PART_BYTES < bytes.length; part += 1) {
    const row = { sourceSeq, part, content: compress(toPart(bytes, part), original.encoding) };
    await db.write((tx) => runPrepared(tx, partInsert(row)));
  }
  return original;
}

/** A source's row, and whether its bytes came in before. */
export interface StoredOriginal {
  readonly sourceSeq: number;
  readonly isKnown: boolean;
}

/** Stores a source's row once, however often the source comes in. */
export async function insertOriginal(tx: Tx, original: Original): Promise<StoredOriginal> {
  const [inserted] = await runPrepared(tx, originalInsert(original));
  if (inserted !== undefined) return { sourceSeq: inserted.seq, isKnown: false };
  const [known] = await runPrepared(tx, originalBySha256({ sha256: original.sha256 }));
  return { sourceSeq: (known as { seq: number }).seq, isKnown: true };
}

/** The bytes of a source as they came in. Throws `not_found` when parts of it are missing. */
export async function readOriginal(db: Queries, seq: number): Promise<Source> {
  const { name, byte_count, encoding, content } = await db
    .selectFrom('source')
    .select(['name', 'byte_count', 'encoding', 'content'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow();
  const parts = await db
    .selectFrom('source_part')
    .select('content')
    .where('source_seq', '=', seq)
    .orderBy('part')
    .execute();
  const bytes = Buffer.concat(
    [content, ...parts.map((part) => part.content)].map((part) => decompress(part, encoding)),
  );
  if (bytes.length !== Number(byte_count))
    throw new Failure('not_found', `The original of ${name} was not stored to its end.`);
  return { name, bytes };
}

function toRow({ name, bytes, sha256 }: Source, receivedAt: Instant) {
  const encoding = isCompressed(bytes) ? ('as_is' as const) : ('zstd' as const);
  return {
    sha256: sha256 ?? hash('sha256', bytes, 'hex'),
    name: name.slice(0, MAX_NAME_CHARS),
    received_at: receivedAt,
    byte_count: bytes.length,
    encoding,
    content: compress(toPart(bytes, 0), encoding),
  };
}

function toPart(bytes: Uint8Array, part: number): Uint8Array {
  return bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
}

const originalInsert = prepareQuery<Original, { seq: number }>((db, param) =>
  db
    .insertInto('source')
    .values({
      sha256: param('sha256'),
      name: param('name'),
      received_at: param('received_at'),
      byte_count: param('byte_count'),
      content: param('content'),
      encoding: param('encoding'),
    })
    .onConflict((oc) => oc.column('sha256').doNothing())
    .returning('seq'),
);

const originalBySha256 = prepareQuery<{ sha256: string }, { seq: number }>((db, param) =>
  db.selectFrom('source').select('seq').where('sha256', '=', param('sha256')),
);

const partInsert = prepareQuery<{ sourceSeq: number; part: number; content: Uint8Array }, never>(
  (db, param) =>
    db
      .insertInto('source_part')
      .values({
        source_seq: param('sourceSeq'),
        part: param('part'),
        content: param('content'),
      })
      .onConflict((oc) => oc.columns(['source_seq', 'part']).doNothing()),
);

/** Most reports arrive compressed. Compressing them again would not make them smaller. */
function isCompressed(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  const isGzip = first === 0x1f && second === 0x8b;
  const isZip = first === 0x50 && second === 0x4b;
  return isGzip || isZip;
}

function compress(bytes: Uint8Array, encoding: 'as_is' | 'zstd'): Uint8Array {
  return encoding === 'as_is' ? bytes : zstdCompressSync(bytes);
}

function decompress(bytes: Uint8Array, encoding: 'as_is' | 'zstd'): Uint8Array {
  return encoding === 'as_is' ? bytes : zstdDecompressSync(bytes);
}
