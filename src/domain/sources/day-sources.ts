import type { SourceTally } from '../reports/aggregate-report.ts';
import { addSafely } from '../safe-sum.ts';
import { type AddressKey, toAddressKey } from './address-key.ts';
import type { Counts } from './source.ts';

/*
 * What each address sent in a domain's name on one day, added up over its reports and stored as one value
 * (packed-sources.ts). A day has exact totals of its own; of the addresses the largest are kept, so a count may be too
 * small and is never too large.
 */

export type DaySources = Map<AddressKey, SourceOfDay>;

export interface SourceOfDay {
  counts: Counts;
  /** Messages by pattern (reports/source-pattern.ts). Those whose pattern was not kept are missing. */
  readonly patterns: Map<string, number>;
  /** Messages by the name of the reporter, null for one without a name. */
  readonly reporters: Map<string | null, PassCounts>;
}

export type PassCounts = Pick<Counts, 'messages' | 'aligned'>;

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
  const name = reporter === null ? null : toName(reporter);
  for (const { address, messages, aligned, dkimAligned = 0, spfAligned = 0, patterns } of sources) {
    const source = findOrAdd(to, toAddressKey(address));
    source.counts = added(source.counts, { messages, aligned, dkimAligned, spfAligned });
    for (const { pattern, messages } of patterns ?? []) addPattern(source, pattern, messages);
    addReporter(source, name, { messages, aligned });
  }
}

/** One line: each text of a day is stored as one. */
function toName(reporter: string): string | null {
  return reporter.slice(0, MAX_REPORTER_CHARS).toWellFormed().replaceAll('\n', ' ') || null;
}

export function addDay(to: DaySources, day: DaySources): void {
  for (const [key, { counts, patterns, reporters }] of day) {
    const source = findOrAdd(to, key);
    source.counts = added(source.counts, counts);
    for (const [pattern, messages] of patterns) addPattern(source, pattern, messages);
    for (const [name, counted] of reporters) addReporter(source, name, counted);
  }
}

/** Takes out what reports added. Addresses that were not kept, and counts that stopped growing, are left at zero. */
export function subtractDay(from: DaySources, day: DaySources): void {
  for (const [key, { counts, patterns, reporters }] of day) {
    const source = from.get(key);
    if (source === undefined) continue;
    source.counts = subtracted(source.counts, counts);
    for (const [pattern, messages] of patterns)
      source.patterns.set(pattern, (source.patterns.get(pattern) ?? 0) - messages);
    for (const [name, counted] of reporters)
      source.reporters.set(name, subtractedPasses(source.reporters.get(name) ?? NONE, counted));
  }
}

function findOrAdd(sources: DaySources, key: AddressKey): SourceOfDay {
  const known = sources.get(key);
  if (known !== undefined) return known;
  const source = { counts: NONE, patterns: new Map(), reporters: new Map() };
  sources.set(key, source);
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
