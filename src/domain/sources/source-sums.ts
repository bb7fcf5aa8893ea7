import type { Day } from '../instant.ts';
import type { AddressKey } from './address-key.ts';
import { AddressNumbers } from './address-numbers.ts';
import { addCounts, COUNTS } from './packed-entry.ts';
import { openDay } from './packed-sources.ts';
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

/** Addresses that a sum has. Only a flood of addresses has more in a year: later ones are left out. */
const MAX_ADDRESSES = 100_000;
/** Of a packed address: those of its key, and of its entry. */
const LEAST_BYTES = 4 + 3;

/** Adds up what each address sent, in places of memory: objects in a map take more than twice as long. */
export class SourceSums {
  readonly #numbers: AddressNumbers;
  readonly #counts: Float64Array;
  /** The places of the first and the last day on which an address sent. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #days: Day[] = [];

  /** For days of so many packed bytes. */
  constructor(bytes: number) {
    const room = Math.min(MAX_ADDRESSES, Math.floor(bytes / LEAST_BYTES));
    this.#numbers = new AddressNumbers(room);
    this.#counts = new Float64Array(COUNTS * room);
    this.#first = new Int32Array(room);
    this.#last = new Int32Array(room);
  }

  /** Days come in their order. Returns false when the sources of one are damaged, and adds nothing. */
  add({ day, sources }: PackedDay): boolean {
    const opened = openDay(sources);
    if (opened === undefined) return false;
    const known = this.#numbers.keys.length;
    const numbers = this.#numbers.findAll(opened);
    addCounts(this.#counts, numbers, opened.reader);
    const place = this.#days.push(day) - 1;
    this.#first.fill(place, known, this.#numbers.keys.length);
    // There is no place -1, and nothing is written there.
    for (let i = 0; i < numbers.length; i += 1) this.#last[numbers[i] as number] = place;
    return true;
  }

  list(): readonly KeyedSum[] {
    const [counts, first, last, days] = [this.#counts, this.#first, this.#last, this.#days];
    return this.#numbers.keys.map((key, number) => ({
      key,
      messages: toCount(counts[COUNTS * number]),
      aligned: toCount(counts[COUNTS * number + 1]),
      dkimAligned: toCount(counts[COUNTS * number + 2]),
      spfAligned: toCount(counts[COUNTS * number + 3]),
      firstDay: days[first[number] as number] as Day,
      lastDay: days[last[number] as number] as Day,
    }));
  }
}

/** It stops at 2^53 − 1, as every count. */
function toCount(sum = 0): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
