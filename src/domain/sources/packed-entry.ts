import type { ByteReader, ByteWriter } from './byte-numbers.ts';
import type { PassCounts, SourceOfDay } from './day-sources.ts';
import type { Counts } from './source.ts';

/*
 * What packed sources have of one address: the number of its patterns with three bits that say which counts follow its
 * messages; its messages; those that failed, and those without DKIM and without SPF, where there are any; its patterns
 * and its reporters, each as twice the position of its text. One more than that says that all of the address's messages
 * have the pattern, or are of the reporter; else their number follows, and those that failed where the address has any.
 */

/** How many patterns, and reporters, a day keeps of one address. */
const MAX_OF_SOURCE = 64;
const BITS = { failed: 1, dkim: 2, spf: 4 } as const;
const ALL_BITS = 8;

/** The position of a text; undefined when there are too many. */
export type FindPosition = (text: string) => number | undefined;

export function writeEntry(to: ByteWriter, source: SourceOfDay, findPosition: FindPosition): void {
  const { counts } = source;
  const patterns = listPatterns(source, findPosition);
  writeCounts(to, counts, patterns.length);
  for (const [position, messages] of patterns)
    if (writePosition(to, position, messages === counts.messages)) to.writeNumber(messages);
  writeReporters(to, source, findPosition);
}

function writeCounts(to: ByteWriter, counts: Counts, patterns: number): void {
  const { messages, aligned, dkimAligned, spfAligned } = counts;
  const others = [messages - aligned, aligned - dkimAligned, aligned - spfAligned] as const;
  const [failed, dkim, spf] = others;
  const bits = (failed && BITS.failed) | (dkim && BITS.dkim) | (spf && BITS.spf);
  to.writeNumber(patterns * ALL_BITS + bits);
  to.writeNumber(messages);
  for (const count of others) if (count > 0) to.writeNumber(count);
}

function writePasses(to: ByteWriter, of: Counts, { messages, aligned }: PassCounts): void {
  to.writeNumber(messages);
  if (hasFailed(of)) to.writeNumber(messages - aligned);
}

function hasFailed({ messages, aligned }: Counts): boolean {
  return messages > aligned;
}

function listPatterns({ counts, patterns }: SourceOfDay, findPosition: FindPosition) {
  const found: (readonly [position: number, messages: number])[] = [];
  // The sum can be more than the messages, after an address was dropped, counted anew and subtracted from.
  let room = counts.messages;
  for (const [pattern, messages] of largest(patterns, (counted) => counted)) {
    const kept = Math.min(messages, room);
    const position = kept > 0 ? findPosition(pattern) : undefined;
    if (position === undefined) continue;
    room -= kept;
    found.push([position, kept]);
  }
  return found;
}

function writeReporters(
  to: ByteWriter,
  { counts, reporters }: SourceOfDay,
  findPosition: FindPosition,
): void {
  for (const [name, passes] of largest(reporters, (one) => one.messages)) {
    const position = passes.messages > 0 ? findPosition(name ?? '') : undefined;
    if (position === undefined) continue;
    const isAll = passes.messages === counts.messages && passes.aligned === counts.aligned;
    if (writePosition(to, position, isAll)) writePasses(to, counts, passes);
  }
}

function largest<K, V>(
  all: ReadonlyMap<K, V>,
  sizeOf: (value: V) => number,
): Iterable<readonly [K, V]> {
  if (all.size <= MAX_OF_SOURCE) return all;
  const sorted = [...all].sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  return sorted.slice(0, MAX_OF_SOURCE);
}

/** Returns whether it is not all, and what it is follows. */
function writePosition(to: ByteWriter, position: number, isAll: boolean): boolean {
  to.writeNumber(2 * position + (isAll ? 1 : 0));
  return !isAll;
}

export type FindText = (position: number) => string;

/** `end` is where the entry ends. */
export function readEntry(reader: ByteReader, end: number, findText: FindText): SourceOfDay {
  const patterns = new Map<string, number>();
  const reporters = new Map<string | null, PassCounts>();
  const counts = readTexts(reader, end, findText, {
    takePattern: (pattern, messages) => void patterns.set(pattern, messages),
    takeReporter: (name, messages, aligned) => void reporters.set(name, { messages, aligned }),
  });
  return { counts, patterns, reporters };
}

export interface TakeTexts {
  readonly takePattern: (pattern: string, messages: number) => void;
  readonly takeReporter: (name: string | null, messages: number, aligned: number) => void;
}

/** Calls a function for each pattern and each reporter of an entry, which ends at `end`. */
export function readTexts(
  reader: ByteReader,
  end: number,
  findText: FindText,
  { takePattern, takeReporter }: TakeTexts,
): Counts {
  const counts = readPatterns(reader, findText, takePattern);
  while (reader.at < end) {
    const number = reader.readNumber();
    const { messages, aligned } = number % 2 === 1 ? counts : readPasses(reader, counts);
    takeReporter(findText(number >> 1) || null, messages, aligned);
  }
  return counts;
}

/** Calls `take` for each pattern of an entry. Leaves the reader before its reporters. */
export function readPatterns(
  reader: ByteReader,
  findText: FindText,
  take: (pattern: string, messages: number) => void,
): Counts {
  const bits = reader.readNumber();
  const counts = readCounts(reader, bits);
  for (let left = Math.floor(bits / ALL_BITS); left > 0; left -= 1) {
    const number = reader.readNumber();
    take(findText(number >> 1), number % 2 === 1 ? counts.messages : reader.readNumber());
  }
  return counts;
}

export function readCounts(reader: ByteReader, bits: number): Counts {
  const messages = reader.readNumber();
  const aligned = messages - readIf(reader, bits & BITS.failed);
  const dkimAligned = aligned - readIf(reader, bits & BITS.dkim);
  return { messages, aligned, dkimAligned, spfAligned: aligned - readIf(reader, bits & BITS.spf) };
}

function readIf(reader: ByteReader, bit: number): number {
  return bit === 0 ? 0 : reader.readNumber();
}

function readPasses(reader: ByteReader, of: Counts): PassCounts {
  const messages = reader.readNumber();
  return { messages, aligned: messages - (hasFailed(of) ? reader.readNumber() : 0) };
}

/** How many numbers the counts of an entry are: messages, and those that passed DMARC, DKIM and SPF. */
export const COUNTS = 4;

/**
 * Adds the counts of entries to `sums`, at their numbers; of -1, nowhere. All in one loop: a function that returns the
 * counts of each takes twice as long and more.
 */
export function addCounts(sums: Float64Array, numbers: Int32Array, reader: ByteReader): void {
  for (let i = 0; i < numbers.length; i += 1) {
    const end = reader.readEnd();
    const bits = reader.readNumber();
    const messages = reader.readNumber();
    const aligned = bits & BITS.failed ? messages - reader.readNumber() : messages;
    const dkimAligned = bits & BITS.dkim ? aligned - reader.readNumber() : aligned;
    const spfAligned = bits & BITS.spf ? aligned - reader.readNumber() : aligned;
    reader.moveTo(end);
    const number = numbers[i] as number;
    if (number === -1) continue;
    const at = COUNTS * number;
    (sums[at] as number) += messages;
    (sums[at + 1] as number) += aligned;
    (sums[at + 2] as number) += dkimAligned;
    (sums[at + 3] as number) += spfAligned;
  }
}
