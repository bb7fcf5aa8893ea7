import { isIPv4 } from 'node:net';
import { toSiteNetwork } from '../network-address.ts';
import type { Network } from './network.ts';

/**
 * The networks of addresses in one file, which is looked up where it lies: a header, the ranges of IPv4 and of IPv6, and
 * the networks. Numbers are big-endian.
 *
 * - Header, 128 bytes: `TableHeader` as JSON, filled up with spaces.
 * - Ranges, by their first address: the first 32 bits of IPv4 addresses, or 48 of IPv6 addresses, and three bytes with the
 *   position of the network, 0 where none is known. A range ends where the next one begins.
 * - Networks: the number of the autonomous system (4 bytes), the length of the organisation's name (1 byte), and the
 *   name in UTF-8. A byte before the first one makes its position 1.
 */
export interface TableHeader {
  readonly format: 'plumbline-networks-1';
  /** The version of the data. */
  readonly version: string;
  /** The number of ranges. */
  readonly v4: number;
  readonly v6: number;
}

export const FORMAT = 'plumbline-networks-1';
export const HEADER_BYTES = 128;
/** The length of the first address of a range. */
export const KEY_BYTES = { v4: 4, v6: 6 } as const;
/**
 * The length of the position of a network.
 *
 * @internal `scripts/networks/` writes it.
 */
export const POSITION_BYTES = 3;
/** The length of what is before the name of a network. */
export const NUMBER_BYTES = 5;
export const MAX_NAME_BYTES = 255;

export type Family = keyof typeof KEY_BYTES;

/** What the ranges of the address's family have as its key. */
export function toRangeKey(address: string): readonly [Family, number] {
  if (isIPv4(address))
    return ['v4', address.split('.').reduce((key, byte) => key * 256 + Number(byte), 0)];
  const groups = toSiteNetwork(address).split(':').slice(0, 3);
  return ['v6', groups.reduce((key, group) => key * 65_536 + Number.parseInt(group, 16), 0)];
}

export function toRangeBytes(family: Family): number {
  return KEY_BYTES[family] + POSITION_BYTES;
}

/** The position of the network of the last range that begins at the key or before it; 0 where none is known. */
export function findPosition(ranges: Buffer, family: Family, key: number): number {
  const [width, bytes] = [KEY_BYTES[family], toRangeBytes(family)];
  let [low, high] = [0, ranges.length / bytes];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges.readUIntBE(middle * bytes, width) <= key) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : ranges.readUIntBE((low - 1) * bytes + width, POSITION_BYTES);
}

/** `bytes` begin at the network's position. */
export function readNetwork(bytes: Buffer): Network {
  const name = bytes.toString('utf8', NUMBER_BYTES, NUMBER_BYTES + bytes.readUInt8(4));
  return { asn: bytes.readUInt32BE(0), organisation: name || null, country: null };
}
