import { crc32 } from 'node:zlib';
import { type AddressKey, findKey, listOthers, readKeys, writeKeys } from './address-key.ts';
import { ByteReader, ByteWriter } from './byte-numbers.ts';
import type { DaySources, PassCounts, SentOnDays, SourceOfDay } from './day-sources.ts';
import { openTexts, writeTexts } from './packed-texts.ts';
import type { Counts } from './source.ts';

/*
 * The stored form of the sources of a day: a checksum of what follows; 1; the keys of its addresses (address-key.ts); texts
 * (packed-texts.ts: patterns and names of reporters); then for each address behind its length an entry: its counts, its
 * patterns and its reporters by their position among the texts. Of passed messages the failed ones are stored, which are
 * zero for most addresses; then those of its reporters are left out.
 *
 * Those of a month have 2, and have two additions: the first and the last day of an address follow its counts,
 * and what it sent on each day from the first to the last comes before its patterns.
 */
const FORMS = { day: 1, month: 2 } as const;

/** How many addresses are kept: those with most messages. */
const MAX_SOURCES = { day: 1_000, month: 10_000 } as const;
/** How many patterns, and reporters, a day keeps of one address. */
const MAX_OF_SOURCE = 64;
/** How many texts a day keeps of all addresses, and their characters: those of the largest addresses. */
const MAX_TEXTS = 2_000;
const MAX_TEXT_CHARS = 200_000;

/** What is damaged is found by its checksum, so nothing else is checked while it is read. */
const CHECKSUM_BYTES = 4;

/** null when no source is left. Each source of a month has `days`. */
export function packSources(
  sources: DaySources,
  of: keyof typeof FORMS = 'day',
): Uint8Array | null {
  const kept = [...sources]
    .filter(([, { counts }]) => counts.messages > 0)
    .sort(([, a], [, b]) => b.counts.messages - a.counts.messages)
    .slice(0, MAX_SOURCES[of]);
  if (kept.length === 0) return null;
  const texts = createTexts();
  const [ipv4, others] = [new Entries<number>(), new Entries<string>()];
  for (const [key, source] of kept)
    if (typeof key === 'number') ipv4.add(key, source, texts);
    else others.add(key, source, texts);
  const head = new ByteWriter();
  for (let i = 0; i < CHECKSUM_BYTES; i += 1) head.writeByte(0);
  head.writeByte(FORMS[of]);
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
    writeCounts(this.#entry, source.counts);
    if (source.days !== undefined) writeDays(this.#entry, source, source.days);
    writePatterns(this.#entry, source, texts);
    writeReporters(this.#entry, source, texts);
    this.#all.writeBytes(this.#entry.bytes);
  }
}

interface Texts {
  readonly list: readonly string[];
  /** The position of a text; undefined when there are too many. */
  readonly find: (text: string) => number | undefined;
}

function createTexts(): Texts {
  const list: string[] = [];
  const positions = new Map<string, number>();
  let room = MAX_TEXT_CHARS;
  const find = (text: string): number | undefined => {
    const known = positions.get(text);
    if (known !== undefined) return known;
    if (list.length >= MAX_TEXTS || text.length > room) return undefined;
    room -= text.length;
    positions.set(text, list.length);
    return list.push(text) - 1;
  };
  return { list, find };
}

function writeCounts(to: ByteWriter, { messages, aligned, dkimAligned, spfAligned }: Counts): void {
  for (const count of [messages, messages - aligned, aligned - dkimAligned, aligned - spfAligned])
    to.writeNumber(count);
}

/** Days are in order. */
function writeDays(to: ByteWriter, { counts }: SourceOfDay, days: SentOnDays): void {
  const [first = 1, ...later] = days.keys();
  const last = later.at(-1) ?? first;
  to.writeByte(first);
  to.writeByte(last);
  for (let day = first; day <= last; day += 1) {
    const { messages, aligned } = days.get(day) ?? NOTHING;
    to.writeNumber(messages);
    if (hasFailed(counts)) to.writeNumber(messages - aligned);
  }
}

function hasFailed({ messages, aligned }: Counts): boolean {
  return messages > aligned;
}

const NOTHING: PassCounts = { messages: 0, aligned: 0 };

function writePatterns(to: ByteWriter, { counts, patterns }: SourceOfDay, texts: Texts): void {
  const found: number[] = [];
  // The sum can be more than the messages, after an address was dropped, counted anew and subtracted from.
  let room = counts.messages;
  for (const [pattern, messages] of largest(patterns, (counted) => counted)) {
    const kept = Math.min(messages, room);
    const position = kept > 0 ? texts.find(pattern) : undefined;
    if (position === undefined) continue;
    room -= kept;
    found.push(position, kept);
  }
  to.writeNumber(found.length / 2);
  for (const number of found) to.writeNumber(number);
}

function writeReporters(to: ByteWriter, { counts, reporters }: SourceOfDay, texts: Texts): void {
  for (const [name, { messages, aligned }] of largest(reporters, (one) => one.messages)) {
    const position = messages > 0 ? texts.find(name ?? '') : undefined;
    if (position === undefined) continue;
    to.writeNumber(position);
    to.writeNumber(messages);
    if (hasFailed(counts)) to.writeNumber(messages - aligned);
  }
}

function largest<K, V>(
  all: ReadonlyMap<K, V>,
  sizeOf: (value: V) => number,
): Iterable<readonly [K, V]> {
  if (all.size < 2) return all;
  const sorted = [...all].sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  return sorted.slice(0, MAX_OF_SOURCE);
}

/** Throws when they are damaged. */
export function unpackSources(bytes: Uint8Array | null): DaySources {
  const sources: DaySources = new Map();
  if (bytes === null) return sources;
  if (!isIntact(bytes)) throw new Error('The sources of a day are damaged.');
  const { reader, keys, ...packed } = openPacked(bytes);
  for (const key of [...keys.ipv4, ...listOthers(keys)])
    sources.set(key, readSource(reader, packed));
  return sources;
}

/** One of the sources, without unpacking the others; null when they are damaged. */
export function unpackSource(bytes: Uint8Array, key: AddressKey): SourceOfDay | null | undefined {
  if (!isIntact(bytes)) return null;
  const { reader, keys, ...packed } = openPacked(bytes);
  const position = findKey(keys, key);
  if (position === -1) return undefined;
  for (let i = 0; i < position; i += 1) reader.moveTo(reader.readEnd());
  return readSource(reader, packed);
}

export type TakeSource = (
  key: AddressKey,
  messages: number,
  aligned: number,
  dkimAligned: number,
  spfAligned: number,
  /** Of a month, from 1. Of a day, both are 1. */
  firstDay: number,
  lastDay: number,
) => void;

/**
 * Calls `take` with the key of each address and its counts: an object for each takes a third longer. Returns false, and
 * calls nothing, when they are damaged.
 */
export function eachSource(bytes: Uint8Array | null, take: TakeSource): boolean {
  if (bytes === null || !isIntact(bytes)) return bytes === null;
  const { reader, keys, isMonth } = openPacked(bytes);
  for (const key of [...keys.ipv4, ...listOthers(keys)]) {
    const end = reader.readEnd();
    const messages = reader.readNumber();
    const aligned = messages - reader.readNumber();
    const dkimAligned = aligned - reader.readNumber();
    const spfAligned = aligned - reader.readNumber();
    const firstDay = isMonth ? reader.readByte() : 1;
    const lastDay = isMonth ? reader.readByte() : 1;
    take(key, messages, aligned, dkimAligned, spfAligned, firstDay, lastDay);
    reader.moveTo(end);
  }
  return true;
}

type Packed = Pick<ReturnType<typeof openPacked>, 'isMonth' | 'findText'>;

function readSource(reader: ByteReader, { isMonth, findText }: Packed): SourceOfDay {
  const end = reader.readEnd();
  const counts = readCounts(reader);
  const days = isMonth ? { days: readDays(reader, counts) } : {};
  const patterns = new Map<string, number>();
  for (let left = reader.readNumber(); left > 0; left -= 1)
    patterns.set(findText(reader.readNumber()), reader.readNumber());
  const reporters = new Map<string | null, PassCounts>();
  while (reader.at < end) {
    const name = findText(reader.readNumber()) || null;
    reporters.set(name, readPasses(reader, counts));
  }
  return { counts, ...days, patterns, reporters };
}

function readDays(reader: ByteReader, counts: Counts): SentOnDays {
  const days = new Map<number, PassCounts>();
  const [first, last] = [reader.readByte(), reader.readByte()];
  for (let day = first; day <= last; day += 1) {
    const passes = readPasses(reader, counts);
    if (passes.messages > 0) days.set(day, passes);
  }
  return days;
}

/** Of a day or a reporter, of a source that has these counts in all. */
function readPasses(reader: ByteReader, counts: Counts): PassCounts {
  const messages = reader.readNumber();
  return { messages, aligned: messages - (hasFailed(counts) ? reader.readNumber() : 0) };
}

export function isIntact(bytes: Uint8Array | null): boolean {
  if (bytes === null) return true;
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength <= CHECKSUM_BYTES) return false;
  const checksum = new DataView(buffer, byteOffset).getUint32(0, true);
  return checksum === crc32(bytes.subarray(CHECKSUM_BYTES));
}

function openPacked(bytes: Uint8Array) {
  const reader = new ByteReader(bytes);
  reader.moveTo(CHECKSUM_BYTES);
  const form = reader.readNumber();
  if (form !== FORMS.day && form !== FORMS.month)
    throw new Error(`The sources of a day have the unknown form ${form}.`);
  const keys = readKeys(reader);
  return { keys, findText: openTexts(reader), reader, isMonth: form === FORMS.month };
}

function readCounts(reader: ByteReader): Counts {
  const messages = reader.readNumber();
  const aligned = messages - reader.readNumber();
  const dkimAligned = aligned - reader.readNumber();
  return { messages, aligned, dkimAligned, spfAligned: aligned - reader.readNumber() };
}
