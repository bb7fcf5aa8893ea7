import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompress } from 'node:zlib';
import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';

/*
 * The original bytes of an input, kept so that a newer parser can read them again. They are stored in parts,
 * each compressed by itself, so that no transaction writes more than one part whatever the input's size.
 */

/** Bytes of the input in one part. Nearly all inputs have one part, which is stored in the input's own row. */
const PART_BYTES = 1024 * 1024;
/** File names come from outside and can have any length. */
const MAX_NAME_CHARS = 1_000;

/** An input's row, with its first part. */
export type Original = ReturnType<typeof toOriginal>;

interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The hash of the bytes in hex, when the caller knows it. */
  readonly sha256?: string;
}

/**
 * Prepares the row of an input, which `insertOriginals` writes together with the first document found in it.
 * The parts of a larger input are written now, one transaction each, before anything is read from it.
 */
export async function keepOriginal(db: Db, input: Input, receivedAt: Instant): Promise<Original> {
  const { bytes } = input;
  const original = toOriginal(input, receivedAt);
  if (bytes.length <= PART_BYTES) return original;
  const { inputSeq } = await db.write((tx) => insertOriginal(tx, original));
  for (let part = 1; part * PART_BYTES < bytes.length; part += 1) {
    const row = { inputSeq, part, content: compress(toPart(bytes, part), original.encoding) };
    await db.write((tx) => runPrepared(tx, partInsert(row)));
  }
  return original;
}

/** An input's row, and whether its bytes came in before. */
export interface StoredOriginal {
  readonly inputSeq: number;
  readonly isKnown: boolean;
}

async function insertOriginal(tx: Tx, original: Original): Promise<StoredOriginal> {
  const stored = new Map<Original, StoredOriginal>();
  await insertOriginals(tx, [{ original }], stored);
  return stored.get(original) as StoredOriginal;
}

/** Stores the rows of documents' inputs once, however often they come in, and adds each to `stored`. */
export async function insertOriginals(
  tx: Tx,
  documents: readonly { readonly original: Original }[],
  stored: Map<Original, StoredOriginal>,
): Promise<void> {
  const originals = new Set(documents.map(({ original }) => original));
  const unstored = [...originals].filter((original) => !stored.has(original));
  const firsts = toFirsts(unstored);
  const inserted = toSeqs(await runAllPrepared(tx, originalInserts([...firsts.values()])));
  // The others are stored already. When another process is storing them, the insertion has waited for its commit.
  const others = [...firsts.values()].filter(({ sha256 }) => !inserted.has(sha256));
  const known = toSeqs(await runAllPrepared(tx, originalsBySha256(others)));
  for (const original of unstored) {
    const inputSeq = inserted.get(original.sha256) ?? known.get(original.sha256) ?? null;
    if (inputSeq === null) throw new Error('An input was neither inserted nor found.');
    const isFirst = firsts.get(original.sha256) === original;
    stored.set(original, { inputSeq, isKnown: !isFirst || known.has(original.sha256) });
  }
}

/**
 * The first input with each hash, ordered by hash: on PostgreSQL an insertion waits for the end of a transaction that
 * has inserted the same bytes, so all insert a group in one order. Transactions with several groups can still
 * deadlock; the database then ends one, and it runs again.
 */
function toFirsts(originals: readonly Original[]): Map<string, Original> {
  const byHash = Map.groupBy(originals, ({ sha256 }) => sha256);
  const firsts = [...byHash].map(([sha256, [first]]) => [sha256, first as Original] as const);
  return new Map(firsts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toSeqs(results: readonly (readonly StoredRow[])[]): Map<string, number> {
  return new Map(results.flat().map(({ sha256, seq }) => [sha256, seq]));
}

/** The bytes of an input as they came in. Throws `not_found` when the input or a part of it is missing. */
export async function readOriginal(db: Queries, seq: number): Promise<Input> {
  const input = await db
    .selectFrom('source')
    .select(['name', 'byte_count', 'encoding', 'content'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  if (input === undefined) throw new Failure('not_found', 'The original is not stored any more.');
  const { name, encoding } = input;
  const byteCount = Number(input.byte_count);
  const pieces = [await decompress(input.content, encoding)];
  // One query for each part, because SQLite blocks the event loop during a query.
  for (let part = 1; part * PART_BYTES < byteCount; part += 1) {
    const content = await readPart(db, seq, part);
    if (content !== undefined) pieces.push(await decompress(content, encoding));
  }
  const bytes = Buffer.concat(pieces);
  if (bytes.length === byteCount) return { name, bytes };
  throw new Failure('not_found', `The original of ${name} was not stored to its end.`);
}

async function readPart(db: Queries, seq: number, part: number): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('source_part')
    .select('content')
    .where('source_seq', '=', seq)
    .where('part', '=', part)
    .executeTakeFirst();
  return row?.content;
}

export async function findOriginalSize(db: Queries, seq: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('source')
    .select('byte_count')
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row === undefined ? undefined : Number(row.byte_count);
}

function toOriginal({ name, bytes, sha256 }: Input, receivedAt: Instant) {
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

type StoredRow = Pick<Tables['source'], 'sha256'> & { readonly seq: number };

const originalInserts = prepareRows<Original, StoredRow>(
  ['sha256', 'name', 'received_at', 'byte_count', 'content', 'encoding'],
  (db, rows) =>
    db
      .insertInto('source')
      .values(rows)
      .onConflict((oc) => oc.column('sha256').doNothing())
      .returning(['sha256', 'seq']),
);

/** A subquery looks up each hash, for the reason given at `knownReports` (documents/report-rows.ts). */
const originalsBySha256 = prepareRows<Pick<Original, 'sha256'>, StoredRow>(['sha256'], (db, rows) =>
  db
    .with('key(sha256)', () => {
      const tuples = rows.map(({ sha256 }) => sql`(${sha256})`);
      return sql<Pick<Original, 'sha256'>>`(values ${sql.join(tuples)})`;
    })
    .selectFrom('key')
    .select('key.sha256')
    .select((eb) =>
      eb
        .selectFrom('source')
        .select('source.seq')
        .whereRef('source.sha256', '=', 'key.sha256')
        .$asScalar()
        .$notNull()
        .as('seq'),
    ),
);

const partInsert = prepareQuery<{ inputSeq: number; part: number; content: Uint8Array }, never>(
  (db, param) =>
    db
      .insertInto('source_part')
      .values({
        source_seq: param('inputSeq'),
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

const unpack = promisify(zstdDecompress);

/** The bytes of a part; none when its content is damaged, so that the original is found to be incomplete. */
async function decompress(bytes: Uint8Array, encoding: 'as_is' | 'zstd'): Promise<Uint8Array> {
  if (encoding === 'as_is') return bytes;
  return await unpack(bytes, { maxOutputLength: PART_BYTES }).catch(() => Buffer.alloc(0));
}
