/** Zip archives, byte for byte, whose headers may be wrong. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name?: string;
  /** The data as stored in the archive. Without it the entry points to the data of the entry before it. */
  readonly data?: Buffer;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly extra?: Buffer;
  /** The position of the entry according to the directory. */
  readonly offset?: number;
}

const STORED = 0;
const DEFLATED = 8;
const MOST_ENTRIES = 0xffff;

export function stored(name: string, content: Buffer | string): ZipEntry {
  const data = Buffer.from(content);
  return { name, data, method: STORED, crc: crc32(data), size: data.length };
}

export function deflated(name: string, content: Buffer | string): ZipEntry {
  const bytes = Buffer.from(content);
  return { name, data: deflateRawSync(bytes), crc: crc32(bytes), size: bytes.length };
}

/** `count` is the number of entries according to the end of the directory. */
export function zipOf(entries: readonly ZipEntry[], count = entries.length): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  let last = { offset: 0, length: 0 };
  for (const entry of entries) {
    const { data } = entry;
    if (data !== undefined) {
      last = { offset: at, length: data.length };
      const local = [localHeader(entry, data.length), Buffer.from(entry.name ?? ''), data];
      pieces.push(...local);
      at += local.reduce((sum, { length }) => sum + length, 0);
    }
    directory.push(directoryHeader(entry, last));
  }
  const packed = Buffer.concat(directory);
  return Buffer.concat([...pieces, packed, directoryEnd({ count, size: packed.length, at })]);
}

function fields({ method = DEFLATED, crc = 0, size = 0 }: ZipEntry, length: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16LE(method, 2);
  bytes.writeUInt32LE(crc, 8);
  bytes.writeUInt32LE(length, 12);
  bytes.writeUInt32LE(size, 16);
  return bytes;
}

function localHeader(entry: ZipEntry, length: number): Buffer {
  const bytes = Buffer.from('PK\x03\x04\x14\x00', 'latin1');
  const lengths = Buffer.alloc(4);
  lengths.writeUInt16LE(Buffer.byteLength(entry.name ?? ''), 0);
  return Buffer.concat([bytes, fields(entry, length), lengths]);
}

function directoryHeader(entry: ZipEntry, last: { offset: number; length: number }): Buffer {
  const name = Buffer.from(entry.name ?? '');
  const extra = entry.extra ?? Buffer.alloc(0);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(name.length, 0);
  tail.writeUInt16LE(extra.length, 2);
  tail.writeUInt32LE(entry.offset ?? last.offset, 14);
  const start = Buffer.from('PK\x01\x02\x14\x00\x14\x00', 'latin1');
  return Buffer.concat([start, fields(entry, last.length), tail, name, extra]);
}

function directoryEnd({ count, size, at }: { count: number; size: number; at: number }): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Math.min(count, MOST_ENTRIES), 8);
  end.writeUInt16LE(Math.min(count, MOST_ENTRIES), 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return end;
}
