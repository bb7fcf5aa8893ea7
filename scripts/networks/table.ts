import { toMmdb } from '../mmdb.ts';

/** A line of a CSV file: first and last address as numbers, the number of the autonomous system, and its name. */
export interface Line {
  readonly first: bigint;
  readonly last: bigint;
  readonly asn: number;
  readonly name: string;
}

/** The names that `domain/sources/network.ts` reads. */
interface Network {
  readonly asn: number;
  readonly name: string;
  readonly [field: string]: string | number;
}

const LINE = /^(\d+),(\d+),(\d+),(.*)$/;
/** IPv6 addresses are known by their site's network: all smaller ones would make the file half as large again. */
const LEAST_BITS = { v4: 0n, v6: 80n } as const;
type Family = keyof typeof LEAST_BITS;

export function parseLine(text: string): Line[] {
  const [, first, last, asn, name] = LINE.exec(text.trim()) ?? [];
  if (first === undefined || last === undefined || name === undefined) return [];
  const plain = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
  return [{ first: BigInt(first), last: BigInt(last), asn: Number(asn), name: plain.trim() }];
}

/** An MMDB file of lines in the order of their addresses. Of lines that overlap, and of names of one number, the first counts. */
export function toTable(version: string, lines: Readonly<Record<Family, readonly Line[]>>): Buffer {
  const networks = new Map<number, Network>();
  for (const { asn, name } of [...lines.v4, ...lines.v6])
    if (!networks.has(asn)) networks.set(asn, { asn, name: toBounded(name) });
  return toMmdb(listPrefixes(lines, networks), { type: toType(version), ipVersion: 6 });
}

/** Names the version of the data in the file. */
export const toType = (version: string) => `plumbline ${version}`;

function* listPrefixes(
  lines: Readonly<Record<Family, readonly Line[]>>,
  networks: ReadonlyMap<number, Network>,
) {
  for (const family of ['v4', 'v6'] as const)
    for (const { from, to, asn } of joinLines(lines[family], LEAST_BITS[family]))
      for (const { first, bits } of split(from, to)) {
        const length = 128 - bits - Number(LEAST_BITS[family]);
        const bytes = toAddress(first << LEAST_BITS[family]);
        yield { bytes, length, record: networks.get(asn) as Network };
      }
}

type Range = { readonly from: bigint; to: bigint; readonly asn: number };

/** Neighbours of one network are one range. The last bits of the addresses are left out. */
function joinLines(lines: readonly Line[], leastBits: bigint): readonly Range[] {
  const ranges: Range[] = [];
  for (const { first, last, asn } of lines) {
    const [from, to] = [first >> leastBits, last >> leastBits];
    const before = ranges.at(-1);
    if (before !== undefined && from <= before.to) continue;
    if (before?.asn === asn && before.to + 1n === from) before.to = to;
    else ranges.push({ from, to, asn });
  }
  return ranges;
}

/** The networks of 2^bits addresses that a range consists of. */
function* split(from: bigint, to: bigint) {
  for (let first = from; first <= to; ) {
    let bits = 0;
    let size = 1n;
    while ((first & size) === 0n && first + 2n * size - 1n <= to) {
      bits += 1;
      size *= 2n;
    }
    yield { first, bits };
    first += size;
  }
}

function toAddress(number: bigint): number[] {
  return [...Buffer.from(number.toString(16).padStart(32, '0'), 'hex')];
}

const MAX_NAME_BYTES = 255;

/** Longer names are cut between characters. */
function toBounded(name: string): string {
  const characters = [...name];
  while (Buffer.byteLength(characters.join('')) > MAX_NAME_BYTES) characters.pop();
  return characters.join('');
}
