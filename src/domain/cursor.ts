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
  /** The list's newest point then: a database that does not have it lost what the client may have seen. */
  readonly newest: Point;
}

/** Where a client begins to follow a list: before its first change, or after a point from an earlier answer. */
export type Start = 'start' | GivenPoint;

/** The first byte of every cursor of this form. Cursors then begin with a letter, `p`. */
const FORM = 0xa4;
/** Bytes of the list's tag, of the position and of the nonce. */
const PART = 6;
/** Where the points begin, and the generation, which has 4 bytes. */
const [POINT, NEWEST, GENERATION] = [1 + PART, 1 + 3 * PART, 1 + 5 * PART] as const;
const BYTES = GENERATION + 4;
/** The only spelling of these bytes: the last character has four bits of them, and then zeros. */
const CURSOR = /^[\w-]{46}[AEIMQUYcgkosw048]$/;

/** The text of a point of a list, for clients: 47 characters of base64url. Nothing in it is secret. */
export function toCursor(listId: string, { generation, newest, ...point }: GivenPoint): string {
  const bytes = Buffer.alloc(BYTES, FORM);
  bytes.set(toTag(listId), 1);
  writePoint(bytes, POINT, point);
  writePoint(bytes, NEWEST, newest);
  bytes.writeUInt32BE(generation, GENERATION);
  return bytes.toString('base64url');
}

/** undefined for a text that is not a cursor of this list. Whether the list has such a point is not checked here. */
export function parseStart(listId: string, text: string): Start | undefined {
  if (text === 'start') return text;
  if (!CURSOR.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes[0] !== FORM || bytes.compare(toTag(listId), 0, PART, 1, POINT) !== 0) return undefined;
  const { position, nonce } = readPoint(bytes, POINT);
  const generation = bytes.readUInt32BE(GENERATION);
  return { position, nonce, generation, newest: readPoint(bytes, NEWEST) };
}

function writePoint(to: Buffer, at: number, { position, nonce }: Point): void {
  to.writeUIntBE(position, at, PART);
  to.write(nonce, at + PART, PART, 'base64url');
}

function readPoint(from: Buffer, at: number): Point {
  const nonce = from.toString('base64url', at + PART, at + 2 * PART);
  return { position: from.readUIntBE(at, PART), nonce };
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
