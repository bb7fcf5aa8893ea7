import type { AddressKey } from './address-key.ts';

interface Addresses {
  readonly ipv4: Int32Array;
  readonly others: readonly string[];
}

/** Addresses that differ in so many bits only are near each other in the table, as those of a network are in the days. */
const NEAR_BITS = 6;
const NEAR = 2 ** NEAR_BITS;
/** Into the next group of near places, and odd, so that it comes to every place. */
const STEP = NEAR + 1;
/**
 * Its high bits, those of the golden ratio, spread groups that follow each other. Whoever sends reports chooses their
 * addresses, and must not know which of them share a place: the other bits are others in each process.
 */
const FACTOR = 0x9e300001 + 2 * Math.floor(Math.random() * 2 ** 19);

/**
 * Numbers addresses, from 0. A map takes two to three times as long for IPv4 addresses, which nearly all are: these are in a table
 * that is half full at most.
 */
export class AddressNumbers {
  /** By their numbers. */
  readonly keys: AddressKey[] = [];
  readonly #room: number;
  /** One more than the number of the IPv4 address that is there; 0 for none. */
  readonly #table: Int32Array;
  readonly #bits: number;
  readonly #ipv4: Int32Array;
  readonly #others = new Map<string, number>();

  /** For so many addresses. */
  constructor(room: number) {
    this.#room = room;
    this.#ipv4 = new Int32Array(room);
    this.#bits = Math.ceil(Math.log2(2 * room + NEAR));
    this.#table = new Int32Array(2 ** this.#bits);
  }

  /** The number of each; -1 where there is no room. */
  findAll({ ipv4, others }: Addresses): Int32Array {
    const found = new Int32Array(ipv4.length + others.length);
    this.#findIpv4(ipv4, found);
    for (let i = 0; i < others.length; i += 1)
      found[ipv4.length + i] = this.#findOther(others[i] as string);
    return found;
  }

  #findIpv4(ipv4: Int32Array, found: Int32Array): void {
    const [table, keys, known] = [this.#table, this.keys, this.#ipv4];
    const [mask, shift] = [table.length - 1, 32 - this.#bits];
    for (let i = 0; i < ipv4.length; i += 1) {
      const key = ipv4[i] as number;
      const group = Math.imul(key >>> NEAR_BITS, FACTOR) >>> shift;
      let place = (group ^ (key & (NEAR - 1))) & mask;
      let number = (table[place] as number) - 1;
      while (number !== -1 && known[number] !== key) {
        place = (place + STEP) & mask;
        number = (table[place] as number) - 1;
      }
      if (number === -1 && keys.length < this.#room) {
        number = keys.push(key) - 1;
        known[number] = key;
        table[place] = keys.length;
      }
      found[i] = number;
    }
  }

  #findOther(text: string): number {
    const known = this.#others.get(text);
    if (known !== undefined || this.keys.length === this.#room) return known ?? -1;
    this.#others.set(text, this.keys.length);
    return this.keys.push(text) - 1;
  }
}
