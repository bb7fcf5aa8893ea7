import { addTo, type Counts, failedOf } from '../pass-rate.ts';
import type { PolicyEvaluated, ReportRecord } from '../reports/aggregate-report.ts';
import { passesDmarc } from '../reports/alignment.ts';
import { toPattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';
import { sortFirst } from '../sort.ts';
import type { SourceCounts, Writable } from './source.ts';

/*
 * What each address sent in a domain's name on one day, added up over its reports. A day has exact totals of its own; of
 * the addresses the largest are kept, so a count may be too small and is never too large.
 */

/** What an address sent. */
export interface DaySource extends SourceCounts {
  /** The canonical text. */
  readonly address: string;
  /** Messages by pattern (reports/source-pattern.ts). Messages whose pattern was not kept are missing. */
  readonly patterns: Iterable<readonly [pattern: string, messages: number]>;
  /** Messages by the name of the reporter, null for one without a name. */
  readonly reporters: Iterable<readonly [name: string | null, counts: Counts]>;
}

/** Sums that grow, by address. */
export type SourceSums = Map<string, SourceSum>;

interface SourceSum extends Writable<SourceCounts> {
  readonly address: string;
  readonly patterns: Map<string, number>;
  readonly reporters: Map<string | null, Counts>;
}

/** How many addresses are kept of a day. */
export const MAX_SOURCES = 1_000;
/** How many texts a day keeps of all addresses, and their characters: those of the largest addresses. */
const MAX_TEXTS = 2_000;
const MAX_TEXT_CHARS = 200_000;
/** How many patterns, and reporters, a day keeps of one address. */
const MAX_OF_SOURCE = 64;
/** Characters kept of the name of a reporter. */
const MAX_REPORTER_CHARS = 200;

interface ReportOfDay {
  readonly reporter: string | null;
  readonly records: readonly ReportRecord[];
}

/** Adds what the records of a report say of their sources. */
export function addReport(to: SourceSums, { reporter, records }: ReportOfDay): void {
  const name = reporter?.slice(0, MAX_REPORTER_CHARS).toWellFormed() || null;
  // Records that were read together share what they say, and making its text takes most of the time.
  const texts = new Map<PolicyEvaluated, string>();
  for (const record of records) {
    const { sourceIp: address, count: messages, policyEvaluated } = record;
    if (address === null || messages === 0) continue;
    const pattern = texts.get(policyEvaluated) ?? toPattern(record);
    texts.set(policyEvaluated, pattern);
    const aligned = passesDmarc(policyEvaluated) ? messages : 0;
    addSource(to, {
      address,
      messages,
      aligned,
      dkimAligned: policyEvaluated.dkim === 'pass' ? messages : 0,
      spfAligned: policyEvaluated.spf === 'pass' ? messages : 0,
      patterns: [[pattern, messages]],
      reporters: [[name, { messages, aligned }]],
    });
  }
}

export function addSource(to: SourceSums, added: DaySource): void {
  const none = { ...NO_COUNTS, patterns: new Map(), reporters: new Map() };
  const sum = to.get(added.address) ?? { address: added.address, ...none };
  to.set(added.address, sum);
  addCounts(sum, added);
  addPatterns(sum.patterns, added.patterns);
  for (const [name, counts] of added.reporters) addPasses(sum.reporters, name, counts);
}

/** Where a sum begins. */
export const NO_COUNTS: SourceCounts = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };

export function addCounts(to: Writable<SourceCounts>, added: SourceCounts): void {
  addTo(to, added);
  to.dkimAligned = addSafely(to.dkimAligned, added.dkimAligned);
  to.spfAligned = addSafely(to.spfAligned, added.spfAligned);
}

/** Patterns beyond so many in `to` are left out. */
export function addPatterns(
  to: Map<string, number>,
  added: DaySource['patterns'],
  max = Number.POSITIVE_INFINITY,
): void {
  for (const [pattern, messages] of added)
    if (to.size < max || to.has(pattern))
      to.set(pattern, addSafely(to.get(pattern) ?? 0, messages));
}

/** Adds what a reporter reported. */
export function addPasses(
  to: Map<string | null, Counts>,
  name: string | null,
  added: Counts,
): void {
  const former = to.get(name);
  to.set(name, {
    messages: addSafely(former?.messages ?? 0, added.messages),
    aligned: addSafely(former?.aligned ?? 0, added.aligned),
  });
}

/** What a day keeps, the largest first. */
export function keepLargest(sources: SourceSums): DaySource[] {
  const isKept = limitTexts();
  const all = [...sources.values()].filter(({ messages }) => messages > 0);
  const byAddress = (a: SourceSum, b: SourceSum) => (a.address < b.address ? -1 : 1);
  const largest = all.sort((a, b) => b.messages - a.messages || byAddress(a, b));
  return chooseLargest(largest).map((source) => {
    const patterns = listLargest(source.patterns, (messages) => messages);
    const reporters = listLargest(source.reporters, ({ messages }) => messages);
    return {
      ...source,
      patterns: patterns.filter(([text]) => isKept(text)),
      reporters: reporters.filter(([name]) => isKept(name ?? '')),
    };
  });
}

/**
 * Half of the addresses are those with most failures, so that nobody who sends from many addresses hides a sender that
 * fails; the others have most messages.
 */
function chooseLargest(largest: readonly SourceSum[]): readonly SourceSum[] {
  if (largest.length <= MAX_SOURCES) return largest;
  const failing = largest.filter((source) => failedOf(source) > 0);
  const first = sortFirst(failing, (a, b) => failedOf(b) - failedOf(a), MAX_SOURCES / 2);
  const chosen = new Set([...new Set([...first, ...largest])].slice(0, MAX_SOURCES));
  return largest.filter((source) => chosen.has(source));
}

/** Whether a text is among those that a day keeps. */
function limitTexts(): (text: string) => boolean {
  const kept = new Set<string>();
  let room = MAX_TEXT_CHARS;
  return (text) => {
    if (kept.has(text)) return true;
    if (kept.size >= MAX_TEXTS || text.length > room) return false;
    room -= text.length;
    kept.add(text);
    return true;
  };
}

function listLargest<Key, Value>(
  all: ReadonlyMap<Key, Value>,
  sizeOf: (value: Value) => number,
): (readonly [Key, Value])[] {
  const sorted = [...all].filter(([, value]) => sizeOf(value) > 0);
  if (sorted.length <= MAX_OF_SOURCE) return sorted;
  return sorted.sort(([, a], [, b]) => sizeOf(b) - sizeOf(a)).slice(0, MAX_OF_SOURCE);
}
