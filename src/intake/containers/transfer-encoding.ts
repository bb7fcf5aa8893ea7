import type { Budget } from '../budget.ts';
import { type Content, toContent } from '../content.ts';

/** Decodes one slice after another; an empty one marks the end. */
type Decode = (slice: Uint8Array) => Uint8Array;

const SLICE_BYTES = 64 * 1024;
const PADDING = 61;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The six bits that each byte encodes, -1 for a byte that encodes none. */
const SIX_BITS = Int8Array.from({ length: 256 }, (_, byte) =>
  ALPHABET.indexOf(String.fromCharCode(byte)),
);
/** A sequence that may continue in the next slice: a soft line end, or a byte in hexadecimal. */
const UNFINISHED = /=(?:[\da-f]?|[ \t]{1,76}\r?|\r)$/i;

const DECODERS: ReadonlyMap<string, () => Decode> = new Map([
  ['base64', base64],
  ['quoted-printable', quotedPrintable],
]);

/** A part's body (RFC 2045, section 6), decoded slice by slice. With an unknown encoding it stays as it is. */
export function decodeBody(body: Uint8Array, encoding: string, budget: Budget): Content {
  const decoder = DECODERS.get(encoding.toLowerCase());
  return decoder === undefined ? toContent(body) : decodeSlices(body, decoder(), budget);
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
