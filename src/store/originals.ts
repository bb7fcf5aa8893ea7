import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import type { Instant } from '../domain/instant.ts';
import type { Tx } from './database.ts';
import { prepareQuery, runPrepared } from './prepared.ts';

/** The original bytes of a source as they are kept, so that a better parser can read them again. */
export type Original = ReturnType<typeof toOriginal>;

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export function toOriginal({ name, bytes }: Source, receivedAt: Instant) {
  return {
    sha256: hash('sha256', bytes, 'hex'),
    source: name,
    received_at: receivedAt,
    byte_count: bytes.length,
    ...compress(bytes),
  };
}

const originalInsert = prepareQuery<Original, { seq: number }>((db, param) =>
  db
    .insertInto('document')
    .values({
      sha256: param('sha256'),
      source: param('source'),
      received_at: param('received_at'),
      byte_count: param('byte_count'),
      content: param('content'),
      encoding: param('encoding'),
    })
    .onConflict((oc) => oc.column('sha256').doNothing())
    .returning('seq'),
);

/** Keeps the bytes once, however often they come in. */
export async function insertOriginal(
  tx: Tx,
  original: Original,
): Promise<{ readonly documentSeq: number; readonly isNew: boolean }> {
  const [inserted] = await runPrepared(tx, originalInsert(original));
  if (inserted !== undefined) return { documentSeq: inserted.seq, isNew: true };
  const known = await tx
    .selectFrom('document')
    .select('seq')
    .where('sha256', '=', original.sha256)
    .executeTakeFirstOrThrow();
  return { documentSeq: known.seq, isNew: false };
}

/** Most reports come compressed, and would not get smaller. */
function compress(bytes: Uint8Array) {
  if (isGzip(bytes) || isZip(bytes)) return { content: bytes, encoding: 'as_is' as const };
  return { content: zstdCompressSync(bytes), encoding: 'zstd' as const };
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}
