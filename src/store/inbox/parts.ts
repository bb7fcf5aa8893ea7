import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { findWholeInput } from '../documents/originals.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import type { Tables } from '../tables.ts';

/* The bytes of mails in the inbox, in parts, so that no transaction writes more than one of them. */

/** An SMTP message in transfer has two parts in memory, and anybody can begin forty messages at the same time. */
export const PART_BYTES = 256 * 1024;

/** An empty mail has one empty part. A part is copied into one buffer: single-byte chunks would fill the memory. */
export async function* toParts(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let [held, isEmpty] = [new Held(), true];
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < chunk.length; ) {
      at += held.add(chunk.subarray(at));
      if (held.size < PART_BYTES) continue;
      yield held.bytes;
      [held, isEmpty] = [new Held(), false];
    }
  }
  if (held.size > 0 || isEmpty) yield held.bytes;
}

class Held {
  size = 0;
  #buffer = Buffer.alloc(0);

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.size);
  }

  /** Returns how many of the bytes belong to this part. */
  add(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, PART_BYTES - this.size);
    this.#grow(this.size + taken.length);
    this.#buffer.set(taken, this.size);
    this.size += taken.length;
    return taken.length;
  }

  /** To twice the size at least, so that each byte is copied only a few times. */
  #grow(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, Math.max(needed, 2 * this.size)));
    grown.set(this.bytes);
    this.#buffer = grown;
  }
}

/**
 * A UUID of version 7 (RFC 9562, 5.7), which begins with the time. So mails of one time are neighbours in every index, where
 * ids in random order would change a page for each; and a part's key says how old it is.
 */
export function createMailId(ms: number): string {
  return `${toIdTime(ms)}${randomUUID().slice(15)}`;
}

/** Ids of mails that began before the time are smaller, all others are not. */
export const toFirstId = (ms: number): string => `${toIdTime(ms)}000-8000-000000000000`;

function toIdTime(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

export type NewPart = Readonly<Tables['inbox_part']>;

export const partInserts = prepareRows(
  ['mail_id', 'part', 'content'],
  (db, rows: readonly RowOf<NewPart>[]) => db.insertInto('inbox_part').values(rows),
);

interface StoredMail {
  readonly seq: number;
  readonly id: string;
  /** The hash in hex. */
  readonly sha256: string;
  readonly byte_count: number;
}

/** Reads the bytes from the inbox, or from a document that is a whole input with them; undefined when they were not kept. */
export async function findMailContent(
  db: Queries,
  mail: StoredMail,
): Promise<Uint8Array | undefined> {
  return (await readParts(db, mail)) ?? (await findWholeInput(db, mail.sha256));
}

/** The bytes of those mails that have one part only, by their ids. */
export async function readSmall(db: Queries, mails: readonly StoredMail[]) {
  const small = mails.filter(({ byte_count }) => byte_count <= PART_BYTES).map(({ id }) => id);
  const parts = db.selectFrom('inbox_part').select(['mail_id', 'content']);
  const rows = await parts.where(isOfMail(db, small)).execute();
  return new Map(rows.map(({ mail_id, content }) => [mail_id, content]));
}

export async function deleteSmall(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom('inbox_part').where(isOfMail(tx, ids)).execute();
}

const isOfMail = (db: Queries, ids: readonly string[]) =>
  dialectOf(db).isIn(sql.ref('mail_id'), sql.val(JSON.stringify(ids)), 'uuid');

/** One part at a time, so that a large mail is in memory once. undefined when parts are missing. */
async function readParts(
  db: Queries,
  { id, byte_count }: StoredMail,
): Promise<Uint8Array | undefined> {
  const bytes = Buffer.alloc(byte_count);
  let size = 0;
  // An empty mail has one part as well.
  for (let part = 0; part === 0 || size < byte_count; part += 1) {
    const parts = db.selectFrom('inbox_part').select('content').where('mail_id', '=', id);
    const row = await parts.where('part', '=', part).executeTakeFirst();
    if (row === undefined || size + row.content.length > byte_count) return undefined;
    bytes.set(row.content, size);
    size += row.content.length;
    freePart(row.content);
  }
  return bytes;
}

/**
 * Frees the memory of a part that nobody reads any more. V8 counts it late, because it is outside its heap: tens of
 * megabytes of parts of large mails would wait for a collection.
 */
export function freePart({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Throws `unavailable` when the bytes are not all there. */
export async function readMailContent(db: Queries, mail: StoredMail): Promise<Uint8Array> {
  const bytes = await findMailContent(db, mail);
  if (bytes?.length === mail.byte_count) return bytes;
  throw new Failure('unavailable', `The bytes of mail-${mail.seq} are not in the database.`);
}

/** Deletes parts from the last to the first, one in a transaction, because a part is large. */
export async function deleteParts(db: Db, mailId: string): Promise<void> {
  for (;;) {
    const parts = db.selectFrom('inbox_part').select('part').where('mail_id', '=', mailId);
    const last = await parts.orderBy('part', 'desc').limit(1).executeTakeFirst();
    if (last === undefined) return;
    await db.write((tx) => {
      const own = tx.deleteFrom('inbox_part').where('mail_id', '=', mailId);
      return own.where('part', '=', last.part).execute();
    });
  }
}
