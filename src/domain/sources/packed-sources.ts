import { crc32 } from 'node:zlib';
import { type AddressKey, findKey, listOthers, readKeys, writeKeys } from './address-key.ts';
import { ByteReader, ByteWriter } from './byte-numbers.ts';
import type { DaySources, SourceOfDay } from './day-sources.ts';
import {
  type FindPosition,
  readCounts,
  readEntry,
  readPatterns,
  readTexts,
  type TakeTexts,
  writeEntry,
} from './packed-entry.ts';
import { openTexts, writeTexts } from './packed-texts.ts';

/*
 * The stored form of the sources of a day: a checksum of what follows; the number of the form; the keys of the
 * addresses (address-key.ts); texts (packed-texts.ts: patterns and names of reporters); and the entry of each address
 * behind its length (packed-entry.ts).
 */
const FORM = 1;

/** Instead of a day's sources that went by age (store/days/old-sources.ts): nothing is added or subtracted. */
export const NOT_KEPT: Uint8Array = Buffer.from('gone');

export function isKept(bytes: Uint8Array | null): boolean {
  return (
    bytes === null || bytes.length !== NOT_KEPT.length || Buffer.compare(bytes, NOT_KEPT) !== 0
  );
}

/** How many addresses are kept: those with most messages. */
export const MAX_SOURCES = 1_000;
/** How many texts a day keeps of all addresses, and their characters: those of the largest addresses. */
const MAX_TEXTS = 2_000;
const MAX_TEXT_CHARS = 200_000;

/** What is damaged is found by its checksum, so nothing else is checked while it is read. */
const CHECKSUM_BYTES = 4;

/** null when no source is left. */
export function packSources(sources: DaySources): Uint8Array | null {
  const kept = [...sources]
    .filter(([, { counts }]) => counts.messages > 0)
    .sort(([, a], [, b]) => b.counts.messages - a.counts.messages)
    .slice(0, MAX_SOURCES);
  if (kept.length === 0) return null;
  const texts = createTexts();
  const [ipv4, others] = [new Entries<number>(), new Entries<string>()];
  for (const [key, source] of kept)
    if (typeof key === 'number') ipv4.add(key, source, texts);
    else others.add(key, source, texts);
  const head = new ByteWriter();
  for (let i = 0; i < CHECKSUM_BYTES; i += 1) head.writeByte(0);
  head.writeByte(FORM);
  writeKeys(head, ipv4.keys, others.keys);
  writeTexts(head, texts.list);
  const packed = Buffer.concat([head.bytes, ipv4.bytes, others.bytes]);
  packed.writeUInt32LE(crc32(packed.subarray(CHECKSUM_BYTES)));
  return packed;
}

class Entries<Key extends AddressKey> {
  readonly keys: Key[] = [];
  readonly #all = new ByteWriter();
  readonly #entry = new ByteWriter();

  get bytes(): Buffer {
    return this.#all.bytes;
  }

  add(key: Key, source: SourceOfDay, texts: Texts): void {
    this.keys.push(key);
    this.#entry.clear();
    writeEntry(this.#entry, source, texts.find);
    this.#all.writeBytes(this.#entry.bytes);
  }
}

interface Texts {
  readonly list: readonly string[];
  readonly find: FindPosition;
}

function createTexts(): Texts {
  const list: string[] = [];
  const positions = new Map<string, number>();
  let room = MAX_TEXT_CHARS;
  const find: FindPosition = (text) => {
    const known = positions.get(text);
    if (known !== undefined) return known;
    if (list.length >= MAX_TEXTS || text.length > room) return undefined;
    room -= text.length;
    positions.set(text, list.length);
    return list.push(text) - 1;
  };
  return { list, find };
}

/** Throws when they are damaged. */
export function unpackSources(bytes: Uint8Array | null): DaySources {
  const sources: DaySources = new Map();
  if (bytes === null || !isKept(bytes)) return sources;
  if (!isIntact(bytes)) throw new Error('The sources of a day are damaged.');
  const { reader, keys, findText } = openPacked(bytes);
  for (const key of [...keys.ipv4, ...listOthers(keys)])
    sources.set(key, readEntry(reader, reader.readEnd(), findText));
  return sources;
}

/** One of the sources, without unpacking the others; null when they are damaged. */
export function unpackSource(bytes: Uint8Array, key: AddressKey): SourceOfDay | null | undefined {
  if (!isKept(bytes)) return undefined;
  if (!isIntact(bytes)) return null;
  const { reader, keys, findText } = openPacked(bytes);
  const position = findKey(keys, key);
  if (position === -1) return undefined;
  for (let i = 0; i < position; i += 1) reader.moveTo(reader.readEnd());
  return readEntry(reader, reader.readEnd(), findText);
}

/** Calls `take` for each pattern of some addresses; for none when they are damaged. */
export function eachPattern(
  bytes: Uint8Array | null,
  wanted: ReadonlySet<AddressKey>,
  take: (key: AddressKey, pattern: string, messages: number) => void,
): void {
  if (bytes === null || !isKept(bytes) || !isIntact(bytes)) return;
  const { reader, keys, findText } = openPacked(bytes);
  const takeNext = (key: AddressKey) => {
    const end = reader.readEnd();
    if (wanted.has(key))
      readPatterns(reader, findText, (pattern, messages) => take(key, pattern, messages));
    reader.moveTo(end);
  };
  keys.ipv4.forEach(takeNext);
  listOthers(keys).forEach(takeNext);
}

/** Calls a function for each pattern and each reporter of all addresses; for none when they are damaged. */
export function eachText(bytes: Uint8Array | null, take: TakeTexts): void {
  if (bytes === null || !isKept(bytes) || !isIntact(bytes)) return;
  const { reader, keys, findText } = openPacked(bytes);
  for (let left = keys.ipv4.length + listOthers(keys).length; left > 0; left -= 1)
    readTexts(reader, reader.readEnd(), findText, take);
}

/** The addresses of a day. The reader is before their entries, which are in the same order. */
export interface OpenedDay {
  readonly ipv4: Int32Array;
  readonly others: readonly string[];
  readonly reader: ByteReader;
}

const NO_SOURCES: OpenedDay = {
  ...{ ipv4: new Int32Array(0), others: [], reader: new ByteReader(new Uint8Array(0)) },
};

/** undefined when they are damaged. */
export function openDay(bytes: Uint8Array | null): OpenedDay | undefined {
  if (bytes === null || !isKept(bytes)) return NO_SOURCES;
  if (!isIntact(bytes)) return undefined;
  const { reader, keys } = openPacked(bytes);
  return { ipv4: keys.ipv4, others: listOthers(keys), reader };
}

/** Calls `take` for each of them; for none when they are damaged. */
export function eachSource(
  bytes: Uint8Array | null,
  take: (key: AddressKey, messages: number, aligned: number) => void,
): void {
  const { ipv4, others, reader } = openDay(bytes) ?? NO_SOURCES;
  const takeNext = (key: AddressKey) => {
    const end = reader.readEnd();
    const { messages, aligned } = readCounts(reader, reader.readNumber());
    take(key, messages, aligned);
    reader.moveTo(end);
  };
  ipv4.forEach(takeNext);
  others.forEach(takeNext);
}

export function isIntact(bytes: Uint8Array | null): boolean {
  if (bytes === null || !isKept(bytes)) return true;
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength <= CHECKSUM_BYTES) return false;
  const checksum = new DataView(buffer, byteOffset).getUint32(0, true);
  return checksum === crc32(bytes.subarray(CHECKSUM_BYTES));
}

function openPacked(bytes: Uint8Array) {
  const reader = new ByteReader(bytes);
  reader.moveTo(CHECKSUM_BYTES);
  const form = reader.readNumber();
  if (form !== FORM) throw new Error(`The sources of a day have the unknown form ${form}.`);
  const keys = readKeys(reader);
  return { keys, findText: openTexts(reader), reader };
}
