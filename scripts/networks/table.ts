import {
  type Family,
  FORMAT,
  HEADER_BYTES,
  KEY_BYTES,
  MAX_NAME_BYTES,
  NUMBER_BYTES,
  POSITION_BYTES,
  type TableHeader,
  toRangeBytes,
} from '../../src/domain/sources/network-table.ts';

/** Of a CSV file: first and last address as numbers, the number of the autonomous system, and its name. */
export interface Line {
  readonly first: bigint;
  readonly last: bigint;
  readonly asn: number;
  readonly name: string;
}

interface Range {
  readonly key: number;
  /** undefined where no network is known. */
  readonly asn: number | undefined;
}

const LINE = /^(\d+),(\d+),(\d+),(.*)$/;
/** Of an IPv6 address, the bits after those of its key. */
const SHIFT = { v4: 0n, v6: 80n } as const;

export function parseLine(text: string): Line[] {
  const [, first, last, asn, name] = LINE.exec(text.trim()) ?? [];
  if (first === undefined || last === undefined || name === undefined) return [];
  const plain = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
  return [{ first: BigInt(first), last: BigInt(last), asn: Number(asn), name: plain.trim() }];
}

/**
 * The file that `src/domain/sources/network-table.ts` describes, of lines in the order of their addresses. Of lines that overlap, the
 * first one counts. Neighbours of one network are joined. Throws when there are more names than positions.
 */
export function toTable(version: string, lines: Readonly<Record<Family, readonly Line[]>>): Buffer {
  const names = [...lines.v4, ...lines.v6].map(({ asn, name }) => [asn, name] as const);
  const { positions, networks } = toNetworks(new Map(names.reverse()));
  const [v4, v6] = (['v4', 'v6'] as const).map((family) =>
    toRanges(lines[family], SHIFT[family]).map(({ key, asn }) => {
      const bytes = Buffer.alloc(toRangeBytes(family));
      bytes.writeUIntBE(key, 0, KEY_BYTES[family]);
      const position = asn === undefined ? 0 : (positions.get(asn) ?? 0);
      bytes.writeUIntBE(position, KEY_BYTES[family], POSITION_BYTES);
      return bytes;
    }),
  ) as [Buffer[], Buffer[]];
  const header: TableHeader = { format: FORMAT, version, v4: v4.length, v6: v6.length };
  return Buffer.concat([
    Buffer.from(JSON.stringify(header).padEnd(HEADER_BYTES)),
    ...[...v4, ...v6],
    networks,
  ]);
}

/** With gaps between networks as ranges of none. */
function toRanges(lines: readonly Line[], shift: bigint): Range[] {
  const ranges: Range[] = [];
  let next = 0n;
  for (const { first, last, asn } of lines) {
    const [from, to] = [first >> shift, last >> shift];
    if (from < next) continue;
    if (from > next) push(ranges, { key: Number(next), asn: undefined });
    push(ranges, { key: Number(from), asn });
    next = to + 1n;
  }
  push(ranges, { key: Number(next), asn: undefined });
  return ranges;
}

function push(ranges: Range[], range: Range): void {
  if (ranges.at(-1)?.asn !== range.asn || ranges.length === 0) ranges.push(range);
}

function toNetworks(names: ReadonlyMap<number, string>) {
  const positions = new Map<number, number>();
  const networks = [Buffer.alloc(1)];
  let position = 1;
  for (const [asn, name] of names) {
    const text = toBounded(name);
    const bytes = Buffer.alloc(NUMBER_BYTES + text.length);
    bytes.writeUInt32BE(asn, 0);
    bytes.writeUInt8(text.length, NUMBER_BYTES - 1);
    text.copy(bytes, NUMBER_BYTES);
    positions.set(asn, position);
    networks.push(bytes);
    position += bytes.length;
  }
  return { positions, networks: Buffer.concat(networks) };
}

/** Longer names are cut between characters. */
function toBounded(name: string): Buffer {
  const characters = [...name];
  while (Buffer.byteLength(characters.join('')) > MAX_NAME_BYTES) characters.pop();
  return Buffer.from(characters.join(''));
}
