import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SourceTally } from '../reports/aggregate-report.ts';
import { addSafely } from '../safe-sum.ts';
import { type AddressKey, readKey, toAddress, toAddressKey, writeKey } from './address-key.ts';
import { ByteReader, writeBytes, writeNumber } from './byte-numbers.ts';
import type { Counts } from './source.ts';

/*
 * What each address sent in a domain's name on one day, added up over its reports and stored as one value. A day has
 * exact totals of its own; of the addresses the largest are kept, so a count may be too small and is never too large.
 */

/** By address. */
export type DaySources = Map<string, SourceOfDay>;

export interface SourceOfDay {
  counts: Counts;
  /** Messages by pattern (reports/source-pattern.ts). Those whose pattern was not kept are missing. */
  readonly patterns: Map<string, number>;
  /** Messages by the name of the reporter, null for one without a name. */
  readonly reporters: Map<string | null, PassCounts>;
}

type PassCounts = Pick<Counts, 'messages' | 'aligned'>;

/** How many addresses a day keeps: those with most messages. */
const MAX_SOURCES = 1_000;
/** How many patterns, and reporters, a day keeps of one address. */
const MAX_OF_SOURCE = 64;
/** How many patterns and reporters a day keeps of all addresses, and their characters: those of the largest addresses. */
const MAX_TEXTS = 2_000;
const MAX_TEXT_CHARS = 200_000;
/** Characters kept of the name of a reporter. */
const MAX_REPORTER_CHARS = 200;

const NONE: Counts = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };

/** Adds what a report says of its sources. */
export function addReport(
  to: DaySources,
  {
    reporter,
    sources,
  }: { readonly reporter: string | null; readonly sources: readonly SourceTally[] },
): void {
  const name = reporter === null ? null : reporter.slice(0, MAX_REPORTER_CHARS).toWellFormed();
  for (const { address, messages, aligned, dkimAligned = 0, spfAligned = 0, patterns } of sources) {
    const source = findOrAdd(to, address);
    source.counts = added(source.counts, { messages, aligned, dkimAligned, spfAligned });
    for (const { pattern, messages } of patterns ?? []) addPattern(source, pattern, messages);
    addReporter(source, name, { messages, aligned });
  }
}

export function addDay(to: DaySources, day: DaySources): void {
  for (const [address, { counts, patterns, reporters }] of day) {
    const source = findOrAdd(to, address);
    source.counts = added(source.counts, counts);
    for (const [pattern, messages] of patterns) addPattern(source, pattern, messages);
    for (const [name, counted] of reporters) addReporter(source, name, counted);
  }
}

/** Takes out what reports added. Addresses that were not kept, and counts that stopped growing, are left at zero. */
export function subtractDay(from: DaySources, day: DaySources): void {
  for (const [address, { counts, patterns, reporters }] of day) {
    const source = from.get(address);
    if (source === undefined) continue;
    source.counts = subtracted(source.counts, counts);
    for (const [pattern, messages] of patterns)
      source.patterns.set(pattern, (source.patterns.get(pattern) ?? 0) - messages);
    for (const [name, counted] of reporters)
      source.reporters.set(name, subtractedPasses(source.reporters.get(name) ?? NONE, counted));
  }
}

function findOrAdd(sources: DaySources, address: string): SourceOfDay {
  const known = sources.get(address);
  if (known !== undefined) return known;
  const source = { counts: NONE, patterns: new Map(), reporters: new Map() };
  sources.set(address, source);
  return source;
}

function addPattern({ patterns }: SourceOfDay, pattern: string, messages: number): void {
  patterns.set(pattern, addSafely(patterns.get(pattern) ?? 0, messages));
}

function addReporter({ reporters }: SourceOfDay, name: string | null, by: PassCounts): void {
  const { messages, aligned } = reporters.get(name) ?? NONE;
  reporters.set(name, {
    messages: addSafely(messages, by.messages),
    aligned: addSafely(aligned, by.aligned),
  });
}

function added(a: Counts, b: Counts): Counts {
  return {
    messages: addSafely(a.messages, b.messages),
    aligned: addSafely(a.aligned, b.aligned),
    dkimAligned: addSafely(a.dkimAligned, b.dkimAligned),
    spfAligned: addSafely(a.spfAligned, b.spfAligned),
  };
}

function subtracted(a: Counts, b: Counts): Counts {
  const { messages, aligned } = subtractedPasses(a, b);
  return {
    messages,
    aligned,
    dkimAligned: clamp(a.dkimAligned - b.dkimAligned, aligned),
    spfAligned: clamp(a.spfAligned - b.spfAligned, aligned),
  };
}

function subtractedPasses(a: PassCounts, b: PassCounts): PassCounts {
  const messages = Math.max(0, a.messages - b.messages);
  return { messages, aligned: clamp(a.aligned - b.aligned, messages) };
}

function clamp(count: number, max: number): number {
  return Math.min(Math.max(0, count), max);
}

/*
 * The stored form: the version of the form, the length of the texts, the texts (JSON of patterns and of reporters,
 * raw deflate), then each address: its key, its counts, and behind their length its patterns and reporters by their
 * position among the texts. Passed messages are stored as the failed ones, which are zero for most addresses.
 */
const FORM = 1;

/** null when no source is left. */
export function packSources(sources: DaySources): Uint8Array | null {
  const kept = [...sources]
    .filter(([, { counts }]) => counts.messages > 0)
    .sort(byMessages)
    .slice(0, MAX_SOURCES);
  if (kept.length === 0) return null;
  const texts = createTexts();
  const entries: number[] = [];
  for (const [address, source] of kept) writeSource(entries, texts, { address, source });
  const packed = deflateRawSync(JSON.stringify([texts.patterns, texts.reporters]), { memLevel: 4 });
  const head: number[] = [FORM];
  writeNumber(head, packed.length);
  return Buffer.concat([Buffer.from(head), packed, Buffer.from(entries)]);
}

/** Ties are ordered by address, so that the same sources are always packed in the same way. */
function byMessages([a, x]: [string, SourceOfDay], [b, y]: [string, SourceOfDay]): number {
  return y.counts.messages - x.counts.messages || (a < b ? -1 : 1);
}

interface Texts {
  readonly patterns: readonly string[];
  readonly reporters: readonly (string | null)[];
  /** The position of a text; undefined when there are too many. */
  readonly find: (kind: 'patterns' | 'reporters', text: string | null) => number | undefined;
}

function createTexts(): Texts {
  const lists = { patterns: [] as string[], reporters: [] as (string | null)[] };
  const positions = {
    patterns: new Map<string | null, number>(),
    reporters: new Map<string | null, number>(),
  };
  let room = MAX_TEXT_CHARS;
  const find: Texts['find'] = (kind, text) => {
    const known = positions[kind].get(text);
    if (known !== undefined) return known;
    const list: (string | null)[] = lists[kind];
    const chars = text?.length ?? 0;
    if (list.length >= MAX_TEXTS || chars > room) return undefined;
    room -= chars;
    positions[kind].set(text, list.length);
    return list.push(text) - 1;
  };
  return { ...lists, find };
}

interface Addressed {
  readonly address: string;
  readonly source: SourceOfDay;
}

function writeSource(to: number[], texts: Texts, { address, source }: Addressed): void {
  const { counts, patterns, reporters } = source;
  writeKey(to, toAddressKey(address));
  writeNumber(to, counts.messages);
  writeNumber(to, counts.messages - counts.aligned);
  writeNumber(to, counts.aligned - counts.dkimAligned);
  writeNumber(to, counts.aligned - counts.spfAligned);
  const results: number[] = [];
  const listed = cutToSum(
    largest(patterns, (messages) => messages),
    counts.messages,
  ).flatMap(([pattern, messages]) => {
    const position = texts.find('patterns', pattern);
    return position === undefined ? [] : [[position, messages] as const];
  });
  writeNumber(results, listed.length);
  for (const [position, messages] of listed) {
    writeNumber(results, position);
    writeNumber(results, messages);
  }
  for (const [name, { messages, aligned }] of largest(reporters, (one) => one.messages)) {
    const position = texts.find('reporters', name);
    if (position === undefined) continue;
    writeNumber(results, position);
    writeNumber(results, messages);
    writeNumber(results, messages - aligned);
  }
  writeBytes(to, results);
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
