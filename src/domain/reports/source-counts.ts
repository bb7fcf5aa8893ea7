import type { PolicyEvaluated, ReportRecord } from './aggregate-report.ts';
import { passesDmarc } from './alignment.ts';
import { toPattern } from './source-pattern.ts';

export interface SourceTally {
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
  /** Messages for which DKIM, and SPF, passed and was aligned. Absent when they were not counted. */
  readonly dkimAligned?: number;
  readonly spfAligned?: number;
  /** Its messages by pattern, largest first; cut off when there are many. */
  readonly patterns?: readonly PatternTally[];
}

/** Messages of one source that were evaluated alike. */
interface PatternTally {
  /** A text of source-pattern.ts. */
  readonly pattern: string;
  readonly messages: number;
}

/**
 * How many sources are counted of one report.
 *
 * @internal Tests make reports with more.
 */
export const MAX_SOURCES = 1_000;
/** How many patterns are kept of one report, and of one of its sources. */
const MAX_PATTERNS = 500;
const MAX_PATTERNS_OF_SOURCE = 16;

/** A pattern, and its messages from all sources. */
interface Pattern {
  readonly text: string;
  messages: number;
}

interface Counted {
  messages: number;
  aligned: number;
  dkimAligned: number;
  spfAligned: number;
  readonly patterns: Map<Pattern, number>;
}

/**
 * What each address sent, the largest first. The records are those that are kept of a report, so what a day counts of
 * the report can be computed again, and subtracted.
 */
export function countSources(records: readonly ReportRecord[]): SourceTally[] {
  const sources = new Map<string, Counted>();
  const patterns = new Map<string, Pattern>();
  // Records that were read together share what they say, and making its text takes most of the time.
  const known = new Map<PolicyEvaluated, Pattern>();
  for (const record of records) {
    const { sourceIp, count, policyEvaluated } = record;
    if (sourceIp === null || count === 0) continue;
    const source = sources.get(sourceIp) ?? noMessages();
    sources.set(sourceIp, source);
    const pattern = known.get(policyEvaluated) ?? findPattern(patterns, record);
    known.set(policyEvaluated, pattern);
    pattern.messages += count;
    source.patterns.set(pattern, (source.patterns.get(pattern) ?? 0) + count);
    addCounts(source, record);
  }
  return toTallies(sources, listLargest(patterns));
}

function addCounts(source: Counted, { count, policyEvaluated }: ReportRecord): void {
  source.messages += count;
  if (passesDmarc(policyEvaluated)) source.aligned += count;
  if (policyEvaluated.dkim === 'pass') source.dkimAligned += count;
  if (policyEvaluated.spf === 'pass') source.spfAligned += count;
}

function noMessages(): Counted {
  return { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0, patterns: new Map() };
}

function findPattern(patterns: Map<string, Pattern>, record: ReportRecord): Pattern {
  const text = toPattern(record);
  const pattern = patterns.get(text) ?? { text, messages: 0 };
  patterns.set(text, pattern);
  return pattern;
}

/** Ties are ordered by text, so that the same records always give the same result. */
function listLargest(patterns: ReadonlyMap<string, Pattern>): ReadonlySet<Pattern> {
  const all = [...patterns.values()];
  if (all.length <= MAX_PATTERNS) return new Set(all);
  const largest = all.sort((a, b) => b.messages - a.messages || (a.text < b.text ? -1 : 1));
  return new Set(largest.slice(0, MAX_PATTERNS));
}

function toTallies(
  sources: ReadonlyMap<string, Counted>,
  kept: ReadonlySet<Pattern>,
): SourceTally[] {
  const largest = [...sources].sort(
    ([a, { messages: ofA }], [b, { messages: ofB }]) => ofB - ofA || (a < b ? -1 : 1),
  );
  // Field by field: copying by a spread takes longer than the rest of this function.
  return largest.slice(0, MAX_SOURCES).map(([address, counts]) => ({
    address,
    messages: counts.messages,
    aligned: counts.aligned,
    dkimAligned: counts.dkimAligned,
    spfAligned: counts.spfAligned,
    patterns: toPatternTallies(counts.patterns, kept),
  }));
}

function toPatternTallies(
  patterns: ReadonlyMap<Pattern, number>,
  kept: ReadonlySet<Pattern>,
): PatternTally[] {
  const tallies: PatternTally[] = [];
  for (const [pattern, messages] of patterns)
    if (kept.has(pattern)) tallies.push({ pattern: pattern.text, messages });
  if (tallies.length < 2) return tallies;
  return tallies
    .sort((a, b) => b.messages - a.messages || (a.pattern < b.pattern ? -1 : 1))
    .slice(0, MAX_PATTERNS_OF_SOURCE);
}
