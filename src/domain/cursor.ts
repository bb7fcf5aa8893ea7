import { crc32 } from 'node:zlib';

/** A change of an account, by its number, and the random text of its transaction (store/lists/changes.ts). */
export interface Point {
  readonly number: number;
  readonly nonce: string;
}

/** A place in the order of a list, and the account's newest change when it was given out. */
export interface Cursor extends Point {
  /** Items of the list with a greater key come after it. */
  readonly key: number;
}

/** Where a client begins to follow a list: before its first item, or after a cursor from an earlier answer. */
export type Start = 'start' | Cursor;

/** The first byte of every cursor of this form. Cursors then begin with a letter, `p`. */
const FORM = 0xa5;
/** Bytes of the tag, and of each of the key, the number and the nonce behind it. */
const [TAG, PART] = [4, 6];
const [KEY, NUMBER, NONCE] = [1 + TAG, 1 + TAG + PART, 1 + TAG + 2 * PART] as const;
const BYTES = NONCE + PART;
/** The only spelling of these bytes: the last character has four bits of them, and then zeros. */
const CURSOR = /^[\w-]{30}[AEIMQUYcgkosw048]$/;

/** The text of a cursor of a list, for clients: 31 characters of base64url. Nothing in it is secret. */
export function toCursor(listId: string, { key, number, nonce }: Cursor): string {
  const bytes = Buffer.alloc(BYTES, FORM);
  bytes.writeUIntBE(key, KEY, PART);
  bytes.writeUIntBE(number, NUMBER, PART);
  bytes.write(nonce, NONCE, PART, 'base64url');
  bytes.writeUInt32BE(toTag(listId, bytes), 1);
  return bytes.toString('base64url');
}

/** undefined for a text that is not a cursor of this list. Whether it is still good is not checked here. */
export function parseStart(listId: string, text: string): Start | undefined {
  if (text === 'start') return text;
  if (!CURSOR.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes[0] !== FORM || bytes.readUInt32BE(1) !== toTag(listId, bytes)) return undefined;
  return {
    key: bytes.readUIntBE(KEY, PART),
    number: bytes.readUIntBE(NUMBER, PART),
    nonce: bytes.toString('base64url', NONCE, BYTES),
  };
}

/**
 * Of the list and the place: a cursor that was changed would skip items, or repeat them. Whoever wants to can make one. A hash of
 * SHA-256 took a tenth of a poll.
 */
function toTag(listId: string, cursor: Buffer): number {
  return crc32(listId, crc32(cursor.subarray(KEY)));
}
