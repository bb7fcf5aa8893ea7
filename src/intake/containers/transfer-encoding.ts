import type { Budget } from '../budget.ts';
import { type Content, toContent } from '../content.ts';

/** Decodes one slice after another; an empty one marks the end. */
type Decode = (slice: Uint8Array) => Uint8Array;

const SLICE_BYTES = 64 * 1024;
const PADDING = 61;
const BLANK = 32;
/** The first visible byte of XML, of JSON, and of a gzip. */
const NOT_BASE64: ReadonlySet<number | undefined> = new Set([60, 91, 123, 0x8b]);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The six bits that each byte encodes, -1 for a byte that encodes none. */
const SIX_BITS = Int8Array.from({ length: 256 }, (_, byte) =>
  ALPHABET.indexOf(String.fromCharCode(byte)),
);
/** A sequence that may continue in the next slice: a soft line end, or a byte in hexadecimal. */
const UNFINISHED = /=(?:[\da-f]?|[ \t]{1,76}\r?|\r)$/i;

const DECODERS: ReadonlyMap<string, (budget: Budget) => Decode> = new Map([
  ['base64', base64],
  ['quoted-printable', quotedPrintable],
  ['uuencode', uuencode],
]);

/** The line before those of uuencode (POSIX). */
export const UUENCODED = /^begin [0-7]{3,4} \S/m;
/** A line of 63 bytes, the most that its first character can say. */
const MAX_UU_CHARS = 85;
/** What such a line costs, in lines. */
const LINES_PER_UU = 6;
/** Blanks before what decides whether a text is in base64. */
const START_BYTES = 100;

/** A part's body (RFC 2045, section 6), decoded slice by slice. With an unknown or a false encoding it stays as it is. */
export function decodeBody(body: Uint8Array, encoding: string, budget: Budget): Content {
  const decoder = DECODERS.get(encoding.toLowerCase());
  const isFalse = decoder === base64 && !beginsBase64(body);
  return decoder === undefined || isFalse
    ? toContent(body)
    : decodeSlices(body, decoder(budget), budget);
}

function beginsBase64(body: Uint8Array): boolean {
  return !NOT_BASE64.has(body.subarray(0, START_BYTES).find((byte) => byte > BLANK));
}

/** The first bytes of a text in base64 that no header calls one; undefined for any other text. */
export function decodeStart(text: string): Uint8Array | undefined {
  const [start] = /^(?:[a-z\d+/]{4}){4,15}/i.exec(text) ?? [];
  return start === undefined ? undefined : Buffer.from(start, 'base64');
}

async function* decodeSlices(body: Uint8Array, decode: Decode, budget: Budget): Content {
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    const encoded = body.subarray(at, at + SLICE_BYTES);
    budget.spend('decodedByte', encoded.length);
    const decoded = decode(encoded);
    if (decoded.length > 0) yield decoded;
  }
  const rest = decode(new Uint8Array());
  if (rest.length > 0) yield rest;
}

/** Padding ends a unit but not always the text: some mailers pad every line. */
function base64(): Decode {
  let bits = 0;
  let count = 0;
  return (slice) => {
    const out = Buffer.allocUnsafe(slice.length);
    let length = 0;
    for (const byte of slice) {
      const six = SIX_BITS[byte] ?? -1;
      if (byte === PADDING) count = 0;
      if (six < 0) continue;
      bits = ((bits << 6) | six) & 0xffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      out[length++] = bits >> count;
    }
    return out.subarray(0, length);
  };
}

/** Lines that begin with their number of bytes, until one has none. Blanks at their ends may be missing. */
function uuencode(budget: Budget): Decode {
  let held = '';
  let state: 'before' | 'within' | 'behind' = 'before';
  const decodeLine = (line: string): Uint8Array => {
    if (state === 'before' && UUENCODED.test(line)) state = 'within';
    else if (state === 'within') {
      const bytes = decodeUuLine(line);
      budget.spend('decodedByte', bytes.length);
      if (bytes.length === 0) state = 'behind';
      return bytes;
    }
    return new Uint8Array();
  };
  return (slice) => {
    const lines = (held + Buffer.from(slice).toString('latin1')).split('\n');
    held = slice.length === 0 ? '' : (lines.pop() ?? '').slice(0, MAX_UU_CHARS);
    budget.spend('line', LINES_PER_UU * lines.length);
    return Buffer.concat(lines.map(decodeLine));
  };
}

function decodeUuLine(line: string): Uint8Array {
  const text = line.trimEnd();
  const toSix = (at: number) => ((text.charCodeAt(at) || BLANK) - BLANK) & 63;
  const out = Buffer.alloc(toSix(0));
  // Blanks that are missing are zeros, which are there already; those of an unfinished unit are not.
  const end = text.length + 3;
  let [bits, count, length] = [0, 0, 0];
  for (let at = 1; length < out.length && at < end; at += 1) {
    bits = ((bits << 6) | toSix(at)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out[length++] = bits >> count;
  }
  return out;
}

/** RFC 2045, 6.7: soft line ends, blanks before line ends, and bytes in hexadecimal. */
function quotedPrintable(): Decode {
  let held: Buffer = Buffer.alloc(0);
  return (slice) => {
    const bytes = Buffer.concat([held, slice]);
    const unfinished = UNFINISHED.exec(bytes.toString('latin1', Math.max(0, bytes.length - 80)));
    const end = bytes.length - (slice.length === 0 ? 0 : (unfinished?.[0].length ?? 0));
    held = bytes.subarray(end);
    return decodeHex(joinLines(bytes.subarray(0, end)));
  };
}

const [EQUALS, TAB, CR, LF] = [0x3d, 9, 13, 10];

/** Without soft line ends. In place: there are never more bytes than before. */
function joinLines(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const end = byte === EQUALS ? findLineEnd(bytes, at + 1) : -1;
    if (end < 0) bytes[length++] = byte;
    else at = end;
  }
  return bytes.subarray(0, length);
}

/** Where the line ends that has nothing but blanks from here on; -1 when it has more. */
function findLineEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === BLANK || bytes[at] === TAB) at += 1;
  if (bytes[at] === CR) at += 1;
  return bytes[at] === LF ? at : -1;
}

/** -1 for a byte that is no digit. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
);

function decodeHex(bytes: Buffer): Buffer {
  const toDigit = (at: number) => HEX[bytes[at] ?? 0] ?? -1;
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const [high, low] = byte === EQUALS ? [toDigit(at + 1), toDigit(at + 2)] : [-1, -1];
    const isHex = high >= 0 && low >= 0;
    bytes[length++] = isHex ? high * 16 + low : byte;
    if (isHex) at += 2;
  }
  return bytes.subarray(0, length);
}
