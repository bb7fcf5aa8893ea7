import type { Day } from '../instant.ts';
import type { AddressKey } from './address-key.ts';
import { COUNTS, type Numbers } from './packed-entry.ts';
import { type PackedCounts, unpackCounts } from './packed-sources.ts';
import type { Counts } from './source.ts';

/** What one address sent in some days. */
export interface KeyedSum extends Counts {
  readonly key: AddressKey;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

interface PackedDay {
  readonly day: Day;
  readonly sources: Uint8Array | null;
}

/** What addresses sent on a day. */
export interface UnpackedDay {
  readonly day: Day;
  readonly packed: Uint8Array | null;
  /** By which the addresses are known here. */
  readonly numbers: Int32Array;
  /** Of each (`readAllCounts`). */
  readonly counts: Numbers;
}

/** Addresses that a sum has, some 20 MB. Only a flood of addresses has more in a year. */
const MAX_ADDRESSES = 100_000;
/** Of an address that is numbered: in a map, and in a list. */
const BYTES_OF_ADDRESS = 50;

/**
 * Days of a domain, unpacked. Addresses have numbers, so that ranges of days are added up by places in memory: finding
 * 366,000 addresses in a map takes ten times as long. A day is unpacked again when its packed sources have changed.
 */
export class UnpackedDays {
  readonly #numbers = new Map<AddressKey, number>();
  readonly #keys: AddressKey[] = [];
  readonly #days = new Map<Day, UnpackedDay>();
  #bytes = 0;

  /** What they take in memory. */
  get bytes(): number {
    return this.#bytes + BYTES_OF_ADDRESS * this.#keys.length;
  }

  /** undefined when the day's sources are damaged. */
  unpack({ day, sources }: PackedDay): UnpackedDay | undefined {
    const known = this.#days.get(day);
    if (known !== undefined && isSame(known.packed, sources)) return known;
    const unpacked = unpackCounts(sources);
    if (unpacked === undefined) return undefined;
    const { counts } = unpacked;
    const found = { day, packed: sources, numbers: this.#toNumbers(unpacked), counts };
    this.#days.set(day, found);
    this.#bytes += sizeOf(found) - (known === undefined ? 0 : sizeOf(known));
    return found;
  }

  #toNumbers({ ipv4, others }: PackedCounts): Int32Array {
    const numbers = new Int32Array(ipv4.length + others.length);
    for (let i = 0; i < ipv4.length; i += 1) numbers[i] = this.#numberOf(ipv4[i] as number);
    for (let i = 0; i < others.length; i += 1)
      numbers[ipv4.length + i] = this.#numberOf(others[i] as string);
    return numbers;
  }

  #numberOf(key: AddressKey): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#keys.length);
    return this.#keys.push(key) - 1;
  }

  /** Oldest first. When there are too many addresses, later ones are left out. */
  addUp(days: readonly UnpackedDay[]): readonly KeyedSum[] {
    const sums = createSums(this.#keys.length);
    for (const [i, day] of days.entries()) addDay(sums, day, i + 1);
    const listed: KeyedSum[] = [];
    for (let number = 0; number < this.#keys.length; number += 1) {
      const key = this.#keys[number] as AddressKey;
      if (sums.first[number] !== 0) listed.push(toSum(key, sums, number, days));
    }
    return listed;
  }
}

interface Sums {
  readonly counts: Float64Array;
  /** The places of the first and the last day on which an address sent, from 1; 0 of none. */
  readonly first: Int32Array;
  readonly last: Int32Array;
  /** For addresses. */
  room: number;
}

function createSums(addresses: number): Sums {
  return {
    counts: new Float64Array(COUNTS * addresses),
    first: new Int32Array(addresses),
    last: new Int32Array(addresses),
    room: MAX_ADDRESSES,
  };
}

function addDay(sums: Sums, { numbers, counts }: UnpackedDay, place: number): void {
  const { counts: to, first, last } = sums;
  for (let i = 0; i < numbers.length; i += 1) {
    const number = numbers[i] as number;
    if (first[number] === 0) {
      if (sums.room === 0) continue;
      sums.room -= 1;
      first[number] = place;
    }
    last[number] = place;
    const [at, from] = [COUNTS * number, COUNTS * i];
    for (let n = 0; n < COUNTS; n += 1) (to[at + n] as number) += counts[from + n] as number;
  }
}

/** Without spreading, which takes as long as all the rest. */
function toSum(
  key: AddressKey,
  { counts, first, last }: Sums,
  number: number,
  days: readonly UnpackedDay[],
): KeyedSum {
  const at = COUNTS * number;
  return {
    key,
    messages: toCount(counts[at]),
    aligned: toCount(counts[at + 1]),
    dkimAligned: toCount(counts[at + 2]),
    spfAligned: toCount(counts[at + 3]),
    firstDay: toDay(days, first[number]),
    lastDay: toDay(days, last[number]),
  };
}

/** It stops at 2^53 − 1, as every count. */
function toCount(sum = 0): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function toDay(days: readonly UnpackedDay[], place = 0): Day {
  return (days[place - 1] as UnpackedDay).day;
}

/** By their bytes: the checksum alone may be the same by chance. */
function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

function sizeOf({ packed, numbers, counts }: UnpackedDay): number {
  return (packed?.length ?? 0) + numbers.byteLength + counts.byteLength;
}
