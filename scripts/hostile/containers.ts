/** Archives that cost too much to unpack, or whose headers are wrong. Most contain one good report as well. */
import { deflateSync, gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';
import { aReportWith } from './values.ts';
import { deflated, stored, type ZipEntry, zipOf } from './zip-bytes.ts';

const MIB = 1024 * 1024;
const REPORT = aReportWith({});
const GOOD = deflated('good.xml', REPORT);
const { data: _, ...SAME } = GOOD;
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0]);
const TRAILER = Buffer.alloc(8);
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);

/** Four empty deflate blocks with tables of their own: 90 bits each. */
function emptyBlocks(bytes: number): Buffer {
  const lengths = [0, 0, 1, ...Array<number>(14).fill(0), 1];
  const header = `001${'00000'}${'00000'}0111${lengths.map((length) => `${length}00`).join('')}`;
  const block = `${header}1${'1111111'}1${'1101011'}000`;
  const bits = block.repeat(4);
  const unit = Buffer.from(
    (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt([...byte].reverse().join(''), 2)),
  );
  return Buffer.concat([Buffer.alloc(bytes - (bytes % unit.length), unit), LAST_BLOCK]);
}

function gzipWith(flags: number, fields: Buffer): Buffer {
  const header = Buffer.from(GZIP_HEADER);
  header[3] = flags;
  return Buffer.concat([header, fields]);
}

const repeat = (count: number, entry: (i: number) => ZipEntry): ZipEntry[] =>
  Array.from({ length: count }, (_, i) => entry(i));

function nestedZips(levels: number): Buffer {
  let inner = zipOf([GOOD]);
  for (let level = 1; level < levels; level += 1) inner = zipOf([deflated('inner.zip', inner)]);
  return inner;
}

/** An end of directory that refers to a zip64 end with wrong values. */
function zip64(entries: bigint, offset: bigint): Buffer {
  const end = Buffer.alloc(56);
  end.write('PK\x06\x06', 'latin1');
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(entries, 32);
  end.writeBigUInt64LE(offset, 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  const old = Buffer.alloc(22, 0xff);
  old.write('PK\x05\x06\x00\x00\x00\x00', 'latin1');
  old.writeUInt16LE(0, 20);
  const start = Buffer.from('PK\x03\x04', 'latin1');
  locator.writeBigUInt64LE(BigInt(start.length), 8);
  return Buffer.concat([start, end, locator, old]);
}

const GZIP_KINDS: readonly Hostile[] = [
  {
    name: 'three million empty gzip members',
    bytes: () => gzipSync(Buffer.alloc(60 * MIB, gzipSync(''))),
  },
  {
    name: 'a gzip of 60 MB of empty deflate blocks',
    bytes: () => gzipSync(Buffer.concat([GZIP_HEADER, emptyBlocks(60 * MIB), TRAILER])),
  },
  {
    name: 'ten gzip members of 100 MB each',
    bytes: () => {
      const member = gzipSync(Buffer.alloc(100 * MIB, '<'));
      return Buffer.concat(Array<Buffer>(10).fill(member));
    },
  },
  {
    name: 'a gzip whose name has 1 MB and no end',
    bytes: () => gzipWith(8, Buffer.alloc(MIB, 'n')),
  },
  {
    name: 'a gzip after ten members with 64 kB of extra fields',
    bytes: () => {
      const extra = Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(0xffff)]);
      const member = Buffer.concat([gzipWith(4, extra), LAST_BLOCK, TRAILER]);
      return Buffer.concat([...Array<Buffer>(10).fill(member), gzipSync(REPORT)]);
    },
  },
  {
    name: 'a gzip that claims every header field and ends',
    bytes: () => gzipWith(31, Buffer.alloc(4)),
  },
  {
    name: 'zlib data in zlib data in gzip in gzip',
    bytes: () => gzipSync(gzipSync(deflateSync(deflateSync(REPORT)))),
  },
  {
    name: 'zlib data of 600 MB of blanks',
    bytes: () => {
      const blanks = deflateSync(Buffer.alloc(200 * MIB, ' '));
      return zipOf([...repeat(3, () => stored('blanks', blanks)), GOOD]);
    },
  },
];

const ZIP_KINDS: readonly Hostile[] = [
  {
    name: 'a zip of 60,000 names for one member',
    bytes: () => zipOf([GOOD, ...repeat(60_000, (i) => ({ ...SAME, name: `${i}.xml` }))]),
  },
  {
    name: '10,000 zip entries that overlap over empty deflate blocks',
    bytes: () => {
      const data = emptyBlocks(116_000);
      return zipOf([GOOD, { data }, ...repeat(9_999, () => ({}))]);
    },
  },
  {
    name: '10,000 zip entries that overlap over a stored text',
    bytes: () => {
      const { data, ...text } = stored('text', Buffer.alloc(400_000, 'text '));
      return zipOf([
        GOOD,
        { ...text, data: data ?? Buffer.alloc(0) },
        ...repeat(9_999, (crc) => ({ ...text, crc })),
      ]);
    },
  },
  {
    name: 'a zip with 13,000 empty entries',
    bytes: () => zipOf([GOOD, ...repeat(13_000, () => stored('', ''))]),
  },
  {
    name: 'a zip that claims 65,535 entries and has one',
    bytes: () => zipOf([GOOD], 0xffff),
  },
  { name: 'a zip64 that claims 2^60 entries', bytes: () => zip64(2n ** 60n, 0n) },
  { name: 'a zip64 whose directory lies far outside', bytes: () => zip64(1n, 2n ** 52n) },
  {
    name: 'an entry that points at the directory',
    bytes: () => {
      const entry = stored('loop', 'loop');
      const offset = zipOf([entry]).length - 22 - 46 - 4;
      return zipOf([{ ...entry, offset }, GOOD]);
    },
  },
  {
    name: 'zips in zips in zips in zips',
    bytes: () => zipOf([GOOD, deflated('z', nestedZips(4))]),
  },
  {
    name: 'a zip of names with 60,000 characters that turn the writing direction',
    bytes: () =>
      zipOf(repeat(10, () => ({ ...GOOD, name: '\u202egnp.\u0007\u2028'.repeat(5_000) }))),
  },
  {
    name: 'a zip whose entries have 64 kB of extra fields',
    bytes: () => zipOf(repeat(14, () => ({ ...GOOD, extra: Buffer.alloc(0xfffc) }))),
  },
  {
    name: 'a zip of 800 entries of 1 MB',
    bytes: () => {
      const bomb = deflated('bomb', Buffer.alloc(MIB, 'x'));
      return zipOf([GOOD, ...repeat(800, () => bomb)]);
    },
  },
  {
    name: 'a zip of 600 gzips that end in their header',
    bytes: () => zipOf([GOOD, ...repeat(600, () => stored('r.gz', GZIP_HEADER))]),
  },
];

export const HOSTILE_CONTAINERS: readonly Hostile[] = [...GZIP_KINDS, ...ZIP_KINDS];
