import { isIPv4 } from 'node:net';
import type { ByteReader, ByteWriter } from './byte-numbers.ts';

/**
 * An address in memory: an IPv4 address as its 32 bits in a signed number, any other as its canonical text.
 * A map finds a number in a third of the time of a text, and nearly all addresses are IPv4.
 */
export type AddressKey = number | string;

export function toAddressKey(address: string): AddressKey {
  if (!isIPv4(address)) return address;
  let [key, byte] = [0, 0];
  for (let i = 0; i < address.length; i += 1) {
    const digit = address.charCodeAt(i) - ZERO;
    if (digit >= 0) byte = byte * 10 + digit;
    else [key, byte] = [(key << 8) | byte, 0];
  }
  return (key << 8) | byte;
}

/** The code of `0`. That of a point is smaller. */
const ZERO = 48;

export function toAddress(key: AddressKey): string {
  if (typeof key === 'string') return key;
  return `${key >>> 24}.${(key >> 16) & 255}.${(key >> 8) & 255}.${key & 255}`;
}

/** The order of their texts, without making them. */
export function compareKeys(a: AddressKey, b: AddressKey): number {
  if (typeof a === 'string' || typeof b === 'string') {
    const [first, second] = [toAddress(a), toAddress(b)];
    return first < second ? -1 : first > second ? 1 : 0;
  }
  for (const bits of [24, 16, 8, 0]) {
    const difference = rankOf((a >>> bits) & 255) - rankOf((b >>> bits) & 255);
    if (difference !== 0) return difference;
  }
  return 0;
}

const TEXTS = Array.from({ length: 256 }, (_, byte) => `${byte}`).sort();
/** The place of a byte's text among those of all bytes. A point, and the end, come before any digit. */
const RANKS = Uint8Array.from({ length: 256 }, (_, byte) => TEXTS.indexOf(`${byte}`));

function rankOf(byte: number): number {
  return RANKS[byte] as number;
}

/** Keys in the order in which their entries are packed. */
export interface PackedKeys {
  readonly ipv4: Int32Array;
  /** Texts, read when they are needed. Their entries are behind those of IPv4 addresses. */
  readonly others: Buffer;
}

const SEPARATOR = ' ';

export function writeKeys(
  to: ByteWriter,
  ipv4: readonly number[],
  others: readonly string[],
): void {
  to.writeBytes(new Uint8Array(Int32Array.from(ipv4).buffer));
  to.writeBytes(Buffer.from(others.join(SEPARATOR), 'latin1'));
}

export function readKeys(reader: ByteReader): PackedKeys {
  // Copied, because numbers of four bytes have to begin at a multiple of four.
  const ipv4 = new Int32Array(new Uint8Array(reader.readBytes()).buffer);
  return { ipv4, others: reader.readBytes() };
}

export function listOthers({ others }: PackedKeys): readonly string[] {
  return others.length === 0 ? [] : others.toString('latin1').split(SEPARATOR);
}

/** The position of an address among the entries; -1 when it has none. */
export function findKey(keys: PackedKeys, key: AddressKey): number {
  if (typeof key === 'number') return keys.ipv4.indexOf(key);
  const found = listOthers(keys).indexOf(key);
  return found === -1 ? -1 : keys.ipv4.length + found;
}
