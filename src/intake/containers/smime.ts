import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';

/** Tags of BER (X.690). Values that are made of others have the bit 0x20 in theirs. */
const TAG = { octets: 0x04, octetsInParts: 0x24, sequence: 0x30, explicit: 0xa0 } as const;
const END_OF_CONTENTS = 0x00;
/** Values within values of unknown length that are skipped. Certificates and algorithms have fewer. */
const MAX_DEPTH = 16;

/** Object identifiers of RFC 5652 and RFC 5083, with tag and length, up to their last number. */
const PKCS7 = '06092a864886f70d0107';
const AUTH_ENVELOPED_DATA = '060b2a864886f70d0109100117';
const [SIGNED_DATA, ENVELOPED_DATA, ENCRYPTED_DATA] = ['02', '03', '06'];

/** Whether the bytes begin a message of S/MIME (CMS, RFC 5652), and of which kind; undefined for other bytes. */
export function findSmime(head: Uint8Array): 'signed' | 'encrypted' | undefined {
  if (head[0] !== TAG.sequence) return undefined;
  const { start } = readHeader(head, 0);
  const id = Buffer.from(head.subarray(start, start + 13)).toString('hex');
  if (id.startsWith(AUTH_ENVELOPED_DATA)) return 'encrypted';
  const kind = id.startsWith(PKCS7) ? id.slice(PKCS7.length, PKCS7.length + 2) : '';
  if (kind === SIGNED_DATA) return 'signed';
  return kind === ENVELOPED_DATA || kind === ENCRYPTED_DATA ? 'encrypted' : undefined;
}

/**
 * The message within signed data, along the path ContentInfo, SignedData, EncapsulatedContentInfo (RFC 5652, sections 3,
 * 5.1 and 5.2). The signature is not checked: a certificate says nothing of a reporter.
 */
export function readSigned(bytes: Uint8Array, budget: Budget): Uint8Array {
  budget.addMember();
  budget.scan(bytes.length);
  const ber = new Ber(bytes, budget);
  ber.enter(TAG.sequence);
  ber.skip();
  ber.enter(TAG.explicit);
  ber.enter(TAG.sequence);
  ber.skip();
  ber.skip();
  const end = ber.enter(TAG.sequence);
  ber.skip();
  if (ber.isAt(end)) throw new Refusal('no_report', 'It is a signature alone (S/MIME).');
  ber.enter(TAG.explicit);
  return ber.readOctets();
}

interface Header {
  readonly tag: number;
  readonly start: number;
  /** undefined when the value ends with two zeros. */
  readonly end: number | undefined;
}

function readHeader(bytes: Uint8Array, at: number): Header {
  const [tag = -1, length] = bytes.subarray(at, at + 2);
  if (length === undefined) return { tag: -1, start: at, end: at };
  if (length < 0x80) return { tag, start: at + 2, end: at + 2 + length };
  const digits = bytes.subarray(at + 2, at + 2 + (length & 0x7f));
  const start = at + 2 + digits.length;
  if (digits.length === 0) return { tag, start, end: undefined };
  return { tag, start, end: start + digits.reduce((sum, digit) => sum * 256 + digit, 0) };
}

/** A place in values of BER, which are within one another. */
class Ber {
  readonly #bytes: Uint8Array;
  readonly #budget: Budget;
  #at = 0;

  constructor(bytes: Uint8Array, budget: Budget) {
    this.#bytes = bytes;
    this.#budget = budget;
  }

  get #tag(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Goes to the first value within this one. Returns where this one ends. */
  enter(tag: number): Header['end'] {
    const { tag: found, start, end } = this.#header();
    if (found !== tag) throw damaged();
    this.#at = start;
    return end;
  }

  isAt(end: Header['end']): boolean {
    return end === undefined ? this.#tag === END_OF_CONTENTS : this.#at >= end;
  }

  /** Goes behind this value. */
  skip(depth = 0): void {
    const { start, end } = this.#header();
    if (depth > MAX_DEPTH) throw damaged();
    this.#at = end ?? start;
    if (end !== undefined) return;
    while (!this.isAt(end)) this.skip(depth + 1);
    this.#at += 2;
  }

  /** The bytes of this string, which may be in parts. They are copied together: a part may have one byte. */
  readOctets(): Uint8Array {
    const { tag, start, end } = this.#header();
    if (tag === TAG.octets && end !== undefined) return this.#bytes.subarray(start, end);
    if (tag !== TAG.octetsInParts) throw damaged();
    const copy = Buffer.allocUnsafe(this.#bytes.length);
    let size = 0;
    this.#at = start;
    while (!this.isAt(end)) {
      const part = this.#header();
      if (part.tag !== TAG.octets || part.end === undefined) throw damaged();
      copy.set(this.#bytes.subarray(part.start, part.end), size);
      size += part.end - part.start;
      this.#at = part.end;
    }
    return copy.subarray(0, size);
  }

  /** Throws unless the value, or the beginning of one of unknown length, is there as a whole. */
  #header(): Header {
    this.#budget.spend('match');
    const header = readHeader(this.#bytes, this.#at);
    if (header.tag < 0 || (header.end ?? header.start) > this.#bytes.length) throw damaged();
    return header;
  }
}

const damaged = (): Refusal => new Refusal('bad_archive', 'The S/MIME message is damaged.');
