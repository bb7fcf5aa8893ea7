import { hash } from 'node:crypto';

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
/** Bytes of the tag, of the key, of the number and of the nonce. */
const PART = 6;
const [KEY, NUMBER, NONCE] = [1 + PART, 1 + 2 * PART, 1 + 3 * PART] as const;
const BYTES = 1 + 4 * PART;
/** The only spelling of these bytes: the last character has two bits of them, and then zeros. */
const CURSOR = /^[\w-]{33}[AQgw]$/;

/** The text of a cursor of a list, for clients: 34 characters of base64url. Nothing in it is secret. */
export function toCursor(listId: string, { key, number, nonce }: Cursor): string {
  const bytes = Buffer.alloc(BYTES, FORM);
  bytes.writeUIntBE(key, KEY, PART);
  bytes.writeUIntBE(number, NUMBER, PART);
  bytes.write(nonce, NONCE, PART, 'base64url');
  bytes.set(toTag(listId, bytes), 1);
  return bytes.toString('base64url');
}

/** undefined for a text that is not a cursor of this list. Whether it is still good is not checked here. */
export function parseStart(listId: string, text: string): Start | undefined {
  if (text === 'start') return text;
  if (!CURSOR.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes[0] !== FORM || bytes.compare(toTag(listId, bytes), 0, PART, 1, KEY) !== 0)
    return undefined;
  return {
    key: bytes.readUIntBE(KEY, PART),
    number: bytes.readUIntBE(NUMBER, PART),
    nonce: bytes.toString('base64url', NONCE, BYTES),
  };
}

/** Of the list and the place: a cursor that was changed would skip items, or repeat them. */
function toTag(listId: string, cursor: Buffer): Uint8Array {
  const place = cursor.toString('latin1', KEY);
  return hash('sha256', `${place}${listId}`, 'buffer').subarray(0, PART);
}
