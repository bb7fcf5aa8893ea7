import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** How many changes a list had (store/lists/points.ts), and the random text of the last change's transaction. */
export interface Point {
  readonly position: number;
  readonly nonce: string;
}

/** A point as it was given out. After a removal the list has another generation. */
export interface GivenPoint extends Point {
  readonly generation: number;
}

/** Where a client begins to follow a list: before its first change, or after a point from an earlier answer. */
export type Start = 'start' | GivenPoint;

/** The first byte of every cursor of this form. Cursors then begin with a letter, `p`. */
const FORM = 0xa4;
/** Bytes of the list's tag, of the position and of the nonce. */
const PART = 6;
/** Where the generation begins, which has 4 bytes. */
const LAST = 1 + 3 * PART;
const BYTES = LAST + 4;

/** The text of a point of a list, for clients: 31 characters of base64url. Nothing in it is secret. */
export function toCursor(listId: string, { position, nonce, generation }: GivenPoint): string {
  const bytes = Buffer.alloc(BYTES, FORM);
  bytes.set(toTag(listId), 1);
  bytes.writeUIntBE(position, 1 + PART, PART);
  bytes.write(nonce, 1 + 2 * PART, PART, 'base64url');
  bytes.writeUInt32BE(generation, LAST);
  return bytes.toString('base64url');
}

/** undefined for a text that is not a cursor of this list. Whether the list has such a point is not checked here. */
export function parseStart(listId: string, text: string): Start | undefined {
  if (text === 'start') return text;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== BYTES || bytes[0] !== FORM) return undefined;
  const position = bytes.readUIntBE(1 + PART, PART);
  const nonce = bytes.toString('base64url', 1 + 2 * PART, LAST);
  const point = { position, nonce, generation: bytes.readUInt32BE(LAST) };
  // Also rejects other spellings of the same bytes.
  return toCursor(listId, point) === text ? point : undefined;
}

/** How many lists' tags are cached. Every page of a list that can be followed needs the list's tag. */
const MAX_TAGS = 1_000;
const tags = new LRUCache<string, Uint8Array>({
  max: MAX_TAGS,
  memoMethod: (listId) => hash('sha256', listId, 'buffer').subarray(0, PART),
});

function toTag(listId: string): Uint8Array {
  return tags.memo(listId);
}
