import type { Budget } from '../budget.ts';
import { type Content, toContent } from '../content.ts';

/** Decodes one slice after another; an empty one marks the end. */
type Decode = (slice: Uint8Array) => Uint8Array;

const SLICE_BYTES = 64 * 1024;
const PADDING = 61;
const BLANK = 32;
/** The first visible byte of XML, and of a gzip. */
const NOT_BASE64: ReadonlySet<number | undefined> = new Set([60, 0x8b]);
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
      if (bytes.length === 0) state = 'behind';
      return bytes;
    }
    return new Uint8Array();
  };
  return (slice) => {
    const lines = (held + Buffer.from(slice).toString('latin1')).split('\n');
    held = slice.length === 0 ? '' : (lines.pop() ?? '').slice(0, MAX_UU_CHARS);
    budget.spend('line', lines.length);
    return Buffer.concat(lines.map(decodeLine));
  };
}

function decodeUuLine(line: string): Uint8Array {
  const text = line.trimEnd();
  const toSix = (at: number) => ((text.charCodeAt(at) || BLANK) - BLANK) & 63;
  const out = Buffer.alloc(toSix(0));
  let [bits, count, length] = [0, 0, 0];
  for (let at = 1; length < out.length; at += 1) {
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
  let held = '';
  return (slice) => {
    const text = held + Buffer.from(slice).toString('latin1');
    held = slice.length === 0 ? '' : (UNFINISHED.exec(text.slice(-80))?.[0] ?? '');
    return decodeQuoted(text.slice(0, text.length - held.length));
  };
}

function decodeQuoted(text: string): Uint8Array {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  const decoded = joined.replace(/=([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}
