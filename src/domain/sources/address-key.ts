import { isIPv4 } from 'node:net';
import type { ByteReader, ByteWriter } from './byte-numbers.ts';

/**
 * An address in memory and in packed sources: an IPv4 address as its 32 bits in a signed number, any other as its canonical text.
 * A map finds a number in a third of the time of a text, and nearly all addresses are IPv4.
 */
export type AddressKey = number | string;

export function toAddressKey(address: string): AddressKey {
  if (!isIPv4(address)) return address;
  return address.split('.').reduce((key, byte) => (key << 8) | Number(byte), 0);
}

export function toAddress(key: AddressKey): string {
  if (typeof key === 'string') return key;
  return [24, 16, 8, 0].map((bits) => (key >> bits) & 255).join('.');
}

/** What is written in the place of a text's length before the four bytes of an IPv4 address: no text is so short. */
const IPV4 = 1;

export function writeKey(to: ByteWriter, key: AddressKey): void {
  if (typeof key === 'string') to.writeBytes(Buffer.from(key, 'latin1'));
  else for (const byte of [IPV4, key >> 24, key >> 16, key >> 8, key]) to.writeByte(byte & 255);
}

export function skipKey(reader: ByteReader): void {
  const length = reader.readNumber();
  reader.moveTo(reader.at + (length === IPV4 ? 4 : length));
}

export function readKey(reader: ByteReader): AddressKey {
  const length = reader.readNumber();
  if (length !== IPV4) return reader.readText(length);
  const high = (reader.readByte() << 24) | (reader.readByte() << 16);
  return high | (reader.readByte() << 8) | reader.readByte();
}
