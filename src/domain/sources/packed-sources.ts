import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type AddressKey, readKey, toAddress, toAddressKey, writeKey } from './address-key.ts';
import { ByteReader, writeBytes, writeNumber } from './byte-numbers.ts';
import type { DaySources, PassCounts, SourceOfDay } from './day-sources.ts';
import type { Counts } from './source.ts';

/*
 * The stored form of the sources of a day: the version of the form; the length of the texts and the texts (JSON of the
 * patterns and of the reporters, raw deflate); then each address: its key, its counts, and behind their length its
 * patterns and reporters by their position among the texts. Of passed messages the failed ones are stored, which are
 * zero for most addresses.
 */
const FORM = 1;

/** How many addresses a day keeps: those with most messages. */
const MAX_SOURCES = 1_000;
/** How many patterns, and reporters, a day keeps of one address. */
const MAX_OF_SOURCE = 64;
/** How many patterns, and reporters, a day keeps of all addresses, and their characters: those of the largest addresses. */
const MAX_TEXTS = 2_000;
const MAX_TEXT_CHARS = 200_000;

/** null when no source is left. */
export function packSources(sources: DaySources): Uint8Array | null {
  const kept = [...sources]
    .filter(([, { counts }]) => counts.messages > 0)
    .sort(byMessages)
    .slice(0, MAX_SOURCES);
  if (kept.length === 0) return null;
  const [patterns, reporters] = [createTexts<string>(), createTexts<string | null>()];
  const entries: number[] = [];
  for (const [address, source] of kept) {
    writeKey(entries, toAddressKey(address));
    writeCounts(entries, source.counts);
    const results: number[] = [];
    writePatterns(results, source, patterns);
    writeReporters(results, source, reporters);
    writeBytes(entries, results);
  }
  const texts = deflateRawSync(JSON.stringify([patterns.list, reporters.list]), { memLevel: 4 });
  const head: number[] = [FORM];
  writeNumber(head, texts.length);
  return Buffer.concat([Buffer.from(head), texts, Buffer.from(entries)]);
}

/** Ties are ordered by address, so that the same sources are always packed in the same way. */
function byMessages([a, x]: [string, SourceOfDay], [b, y]: [string, SourceOfDay]): number {
  return y.counts.messages - x.counts.messages || (a < b ? -1 : 1);
}

interface Texts<T> {
  readonly list: readonly T[];
  /** The position of a text; undefined when there are too many. */
  readonly find: (text: T) => number | undefined;
}

function createTexts<T extends string | null>(): Texts<T> {
  const list: T[] = [];
  const positions = new Map<T, number>();
  let room = MAX_TEXT_CHARS;
  const find = (text: T): number | undefined => {
    const known = positions.get(text);
    if (known !== undefined) return known;
    const chars = text?.length ?? 0;
    if (list.length >= MAX_TEXTS || chars > room) return undefined;
    room -= chars;
    positions.set(text, list.length);
    return list.push(text) - 1;
  };
  return { list, find };
}

function writeCounts(to: number[], { messages, aligned, dkimAligned, spfAligned }: Counts): void {
  for (const count of [messages, messages - aligned, aligned - dkimAligned, aligned - spfAligned])
    writeNumber(to, count);
}

function writePatterns(
  to: number[],
  { counts, patterns }: SourceOfDay,
  texts: Texts<string>,
): void {
  const counted = largest(patterns, (messages) => messages);
  const found = cutToSum(counted, counts.messages).flatMap(([pattern, messages]) => {
    const position = texts.find(pattern);
    return position === undefined ? [] : [[position, messages]];
  });
  writeNumber(to, found.length);
  for (const number of found.flat()) writeNumber(to, number);
}

function writeReporters(
  to: number[],
  { reporters }: SourceOfDay,
  texts: Texts<string | null>,
): void {
  for (const [name, { messages, aligned }] of largest(reporters, (one) => one.messages)) {
    const position = texts.find(name);
    if (position === undefined) continue;
    for (const number of [position, messages, messages - aligned]) writeNumber(to, number);
  }
}

function largest<K, V>(all: ReadonlyMap<K, V>, sizeOf: (value: V) => number): [K, V][] {
  return [...all]
    .filter(([, value]) => sizeOf(value) > 0)
    .sort(([a, x], [b, y]) => sizeOf(y) - sizeOf(x) || (String(a) < String(b) ? -1 : 1))
    .slice(0, MAX_OF_SOURCE);
}

/** Cuts counts whose sum exceeds `messages`, as it can after an address was dropped, counted anew and subtracted from. */
function cutToSum<K>(counts: readonly [K, number][], messages: number): [K, number][] {
  let room = messages;
  return counts.flatMap(([key, count]) => {
    const kept = Math.min(count, room);
    room -= kept;
    return kept > 0 ? [[key, kept]] : [];
  });
}

export function unpackSources(bytes: Uint8Array | null): DaySources {
  const sources: DaySources = new Map();
  if (bytes === null) return sources;
  const { texts, reader } = openPacked(bytes);
  const parsed = parseTexts(texts);
  while (reader.hasMore()) sources.set(toAddress(readKey(reader)), readSource(reader, parsed));
  return sources;
}

/** One of the sources, without unpacking the others. */
export function unpackSource(bytes: Uint8Array, address: string): SourceOfDay | undefined {
  const { texts, reader } = openPacked(bytes);
  const key = toAddressKey(address);
  while (reader.hasMore()) {
    if (readKey(reader) === key) return readSource(reader, parseTexts(texts));
    for (let count = 0; count < COUNTS; count += 1) reader.readNumber();
    reader.moveTo(reader.readEnd());
  }
  return undefined;
}

type TakeSource = (
  key: AddressKey,
  messages: number,
  aligned: number,
  dkimAligned: number,
  spfAligned: number,
) => void;

/** Calls `take` with the key of each address and its counts: an object for each takes a third longer. */
export function eachSource(bytes: Uint8Array | null, take: TakeSource): void {
  if (bytes === null) return;
  const { reader } = openPacked(bytes);
  while (reader.hasMore()) {
    const key = readKey(reader);
    const messages = reader.readNumber();
    const aligned = messages - reader.readNumber();
    const dkimAligned = aligned - reader.readNumber();
    take(key, messages, aligned, dkimAligned, aligned - reader.readNumber());
    reader.moveTo(reader.readEnd());
  }
}

/** JSON escapes a character by at most six. */
const MAX_UNPACKED = 6 * MAX_TEXT_CHARS + 8 * MAX_TEXTS;

type ParsedTexts = readonly [patterns: readonly string[], reporters: readonly (string | null)[]];

function parseTexts(texts: Uint8Array): ParsedTexts {
  return JSON.parse(inflateRawSync(texts, { maxOutputLength: MAX_UNPACKED }).toString());
}

function readSource(reader: ByteReader, [patternTexts, reporterTexts]: ParsedTexts): SourceOfDay {
  const counts = readCounts(reader);
  const end = reader.readEnd();
  const patterns = new Map<string, number>();
  for (let left = reader.readNumber(); left > 0; left -= 1)
    patterns.set(patternTexts[reader.readNumber()] as string, reader.readNumber());
  const reporters = new Map<string | null, PassCounts>();
  while (reader.at < end) {
    const name = reporterTexts[reader.readNumber()] as string | null;
    const messages = reader.readNumber();
    reporters.set(name, { messages, aligned: messages - reader.readNumber() });
  }
  return { counts, patterns, reporters };
}

function openPacked(bytes: Uint8Array) {
  const reader = new ByteReader(bytes);
  const form = reader.readNumber();
  if (form !== FORM) throw new Error(`The sources of a day have the unknown form ${form}.`);
  const end = reader.readEnd();
  const texts = bytes.subarray(reader.at, end);
  reader.moveTo(end);
  return { texts, reader };
}

/** How many numbers the counts of a source are. */
const COUNTS = 4;

function readCounts(reader: ByteReader): Counts {
  const messages = reader.readNumber();
  const aligned = messages - reader.readNumber();
  const dkimAligned = aligned - reader.readNumber();
  return { messages, aligned, dkimAligned, spfAligned: aligned - reader.readNumber() };
}
