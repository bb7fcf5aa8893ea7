import type { Day } from '../../../domain/instant.ts';
import { addSafely } from '../../../domain/safe-sum.ts';

/*
 * The column `details`: an address's messages of one day by pattern. A report's entries are appended to the
 * text, so that intake does not have to read it; entries of one pattern are added up when the text is read.
 * An entry has the ids of the reporter and of the pattern (texts.ts), messages in base 36, and a comma.
 */

export interface DomainDay {
  readonly domainId: string;
  readonly day: Day;
}

/** Messages by the ids of their reporter and pattern, joined. */
export type PatternCounts = Map<string, number>;

export const REPORTER_ID_CHARS = 6;
export const PATTERN_ID_CHARS = 8;
const ID_CHARS = REPORTER_ID_CHARS + PATTERN_ID_CHARS;
const BASE = 36;

/**
 * How many patterns an address keeps for one day: the largest.
 * @internal Tests make more.
 */
export const MAX_PATTERNS_OF_DAY = 64;
/** A text longer than this has more than `MAX_PATTERNS_OF_DAY` patterns, or many entries of one. */
export const LONG_DETAILS = 2 * MAX_PATTERNS_OF_DAY * (ID_CHARS + 3);

export function parseDetails(details: string): PatternCounts {
  const counts: PatternCounts = new Map();
  for (const entry of details.split(',')) {
    if (entry === '') continue;
    addPattern(counts, entry.slice(0, ID_CHARS), Number.parseInt(entry.slice(ID_CHARS), BASE));
  }
  return counts;
}

export function addPattern(counts: PatternCounts, id: string, messages: number): void {
  counts.set(id, addSafely(counts.get(id) ?? 0, messages));
}

/** The text of the largest patterns. */
export function renderDetails(counts: PatternCounts, limit = MAX_PATTERNS_OF_DAY): string {
  const kept = counts.size <= limit ? [...counts] : bySize(counts).slice(0, limit);
  return kept.map(([id, messages]) => `${id}${messages.toString(BASE)},`).join('');
}

/** Cuts the counts, largest first. Their sum may exceed `messages` after an address was dropped and counted anew. */
export function fitDetails(counts: PatternCounts, messages: number): PatternCounts {
  const fitting: PatternCounts = new Map();
  let room = messages;
  for (const [id, count] of bySize(counts)) {
    const kept = Math.min(count, room);
    if (kept > 0) fitting.set(id, kept);
    room -= Math.max(0, kept);
  }
  return fitting;
}

function bySize(counts: PatternCounts): [string, number][] {
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
