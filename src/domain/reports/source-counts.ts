import type { PatternTally, ReportRecord, SourceTally } from './aggregate-report.ts';
import { passesDmarc } from './alignment.ts';
import { toPattern, toPatternKey } from './source-pattern.ts';

/** How many sources are kept of one report, and of all reports of one day. */
export const MAX_SOURCES = 1_000;

/** Addresses counted at the same time: more than any honest report has; about 2 MB. */
const MAX_COUNTED = 10_000;

/** How many patterns are kept of one report, and how many are counted at the same time. */
const MAX_PATTERNS = 500;
const MAX_COUNTED_PATTERNS = 2_000;
/** How many patterns are kept of one source of a report, and how many are counted at the same time. */
const MAX_PATTERNS_OF_SOURCE = 16;
const MAX_COUNTED_OF_SOURCE = 64;

/** A pattern, and its messages from all sources. One that was dropped has no text. */
interface Pattern {
  text: string | null;
  messages: number;
}

interface PatternCount {
  readonly pattern: Pattern;
  messages: number;
}

interface Counted {
  messages: number;
  aligned: number;
  dkimAligned: number;
  spfAligned: number;
  /** Few, so a list is faster than a map. */
  patterns: PatternCount[];
}

/**
 * What each address sent, counted in bounded memory. When there are too many addresses, the half with the smallest
 * counts is dropped. One that occurs again is counted from zero, so a count may be too small and is never too large.
 * The totals in the report's tally are exact. Patterns are bounded in the same way.
 */
export class SourceCounts {
  #counts = new Map<string, Counted>();
  #patterns = new Map<string, Pattern>();

  add(record: ReportRecord): void {
    const { sourceIp, count, policyEvaluated } = record;
    if (sourceIp === null || count === 0) return;
    const source = this.#counts.get(sourceIp) ?? this.#insert(sourceIp);
    source.messages += count;
    if (passesDmarc(policyEvaluated)) source.aligned += count;
    if (policyEvaluated.dkim === 'pass') source.dkimAligned += count;
    if (policyEvaluated.spf === 'pass') source.spfAligned += count;
    this.#addPattern(source, record);
  }

  largest(limit = MAX_SOURCES): SourceTally[] {
    const kept = new Set<Pattern>();
    for (const [, pattern] of largestPatterns(this.#patterns, MAX_PATTERNS)) kept.add(pattern);
    // Field by field: copying by a spread takes longer than the rest of this function.
    return this.#largest(limit).map(([address, counts]) => ({
      address,
      messages: counts.messages,
      aligned: counts.aligned,
      dkimAligned: counts.dkimAligned,
      spfAligned: counts.spfAligned,
      patterns: toPatternTallies(counts.patterns, kept),
    }));
  }

  #largest(limit: number): [string, Counted][] {
    return [...this.#counts].sort(bySize).slice(0, limit);
  }

  #insert(address: string): Counted {
    if (this.#counts.size >= MAX_COUNTED) this.#counts = new Map(this.#largest(MAX_COUNTED / 2));
    const source = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0, patterns: [] };
    this.#counts.set(address, source);
    return source;
  }

  #addPattern(source: Counted, record: ReportRecord): void {
    const key = toPatternKey(record);
    const pattern = this.#patterns.get(key) ?? this.#insertPattern(key, toPattern(record));
    pattern.messages += record.count;
    const known = source.patterns.find((counted) => counted.pattern === pattern);
    if (known !== undefined) known.messages += record.count;
    else source.patterns.push({ pattern, messages: record.count });
    if (source.patterns.length > MAX_COUNTED_OF_SOURCE)
      source.patterns = source.patterns
        .sort((a, b) => b.messages - a.messages)
        .slice(0, MAX_COUNTED_OF_SOURCE / 2);
  }

  #insertPattern(key: string, text: string): Pattern {
    if (this.#patterns.size >= MAX_COUNTED_PATTERNS) this.#dropPatterns();
    const pattern = { text, messages: 0 };
    this.#patterns.set(key, pattern);
    return pattern;
  }

  #dropPatterns(): void {
    const kept = largestPatterns(this.#patterns, MAX_COUNTED_PATTERNS / 2);
    const before = this.#patterns;
    this.#patterns = new Map(kept);
    for (const [key, pattern] of before) if (!this.#patterns.has(key)) pattern.text = null;
  }
}

/** Ties are ordered by address, so that the same report always keeps the same sources. */
function bySize([a, { messages: ofA }]: [string, Counted], [b, ofB]: [string, Counted]): number {
  return ofB.messages - ofA || (a < b ? -1 : 1);
}

function largestPatterns(patterns: ReadonlyMap<string, Pattern>, limit: number) {
  const all = [...patterns];
  if (all.length <= limit) return all;
  return all.sort(([a, x], [b, y]) => y.messages - x.messages || (a < b ? -1 : 1)).slice(0, limit);
}

function toPatternTallies(
  patterns: readonly PatternCount[],
  kept: ReadonlySet<Pattern>,
): PatternTally[] {
  const tallies: PatternTally[] = [];
  for (const { pattern, messages } of patterns)
    if (kept.has(pattern)) tallies.push({ pattern: pattern.text ?? '', messages });
  if (tallies.length < 2) return tallies;
  return tallies
    .sort((a, b) => b.messages - a.messages || (a.pattern < b.pattern ? -1 : 1))
    .slice(0, MAX_PATTERNS_OF_SOURCE);
}
