import { crc32 } from 'node:zlib';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Content } from '../content.ts';
import type { WarningLog } from '../warnings.ts';
import { inflate } from './inflate.ts';
import type { Inherited } from './member.ts';

const FIXED_HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** FLG bits of RFC 1952, 2.3.1. */
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 } as const;

/** Magic number, and deflate as the method. */
export function isGzip(bytes: Uint8Array, at = 0): boolean {
  return bytes[at] === 0x1f && bytes[at + 1] === 0x8b && bytes[at + 2] === 8;
}

/** A zlib header (RFC 1950) with the usual 32 KiB window and without a preset dictionary. */
export function isZlib([cmf, flags]: Uint8Array): boolean {
  return cmf === 0x78 && flags !== undefined && (0x7800 + flags) % 31 === 0 && !(flags & 0x20);
}

/** RFC 1952. Several members are joined; they and a missing trailer warn. Other bytes after a trailer are ignored. */
export async function* gunzip(bytes: Uint8Array, { budget, log }: Inherited): Content {
  let at = 0;
  do {
    if (at > 0) log.add('gzip_several_members');
    // Even an empty member requires a new decompressor.
    budget.addMember();
    at = endOfHeader(bytes, at);
    let crc = 0;
    let consumed = 0;
    const onEnd = (count: number) => {
      consumed = count;
    };
    for await (const chunk of inflate(bytes.subarray(at), { budget, onEnd })) {
      crc = crc32(chunk, crc);
      yield chunk;
    }
    at += consumed;
    checkTrailer(bytes.subarray(at, at + TRAILER_BYTES), crc, log);
    at += TRAILER_BYTES;
  } while (isGzip(bytes, at));
}

/** Everything that the zlib data unpacks to. Its checksum is not checked: errors show in the XML. */
export async function* unzlib(bytes: Uint8Array, { budget }: Inherited): Content {
  yield* inflate(bytes.subarray(2), { budget });
}

function endOfHeader(bytes: Uint8Array, start: number): number {
  const flags = bytes[start + 3] ?? 0;
  let at = start + FIXED_HEADER_BYTES;
  if (flags & FLAG.extra) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  if (flags & FLAG.name) at = afterZero(bytes, at);
  if (flags & FLAG.comment) at = afterZero(bytes, at);
  if (flags & FLAG.headerCrc) at += 2;
  if (at > bytes.length) throw new Refusal('bad_archive', 'The gzip header is not complete.');
  return at;
}

function afterZero(bytes: Uint8Array, from: number): number {
  const zero = bytes.indexOf(0, from);
  return zero < 0 ? Number.POSITIVE_INFINITY : zero + 1;
}

function checkTrailer(trailer: Uint8Array, crc: number, log: WarningLog): void {
  if (trailer.length < TRAILER_BYTES) log.add('gzip_truncated');
  else if (new DataView(trailer.buffer, trailer.byteOffset).getUint32(0, true) !== crc)
    log.add('gzip_bad_checksum');
}
