import type { DayRange } from '../../domain/day-range.ts';
import type { Day } from '../../domain/instant.ts';
import {
  type EvaluatedPattern,
  isAligned,
  parsePattern,
} from '../../domain/reports/source-pattern.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { fitDetails, parseDetails, REPORTER_ID_CHARS } from './days/details.ts';
import { type DomainScope, requireDomain } from './scope.ts';
import { findTexts, type TextKey } from './texts.ts';

/** Messages of one source in a range that one reporter evaluated alike. */
export interface SourcePattern extends EvaluatedPattern {
  /** The organisation that reported them. */
  readonly reporter: string | null;
  readonly messages: number;
  /** Messages that passed DMARC: all or none. */
  readonly aligned: number;
  readonly first_day: Day;
  readonly last_day: Day;
}

export interface SourceDay {
  readonly day: Day;
  readonly messages: number;
  readonly aligned: number;
}

export interface SourceOfRange {
  /** The days on which it sent something, oldest first. */
  readonly days: readonly SourceDay[];
  /** The largest patterns, largest first. */
  readonly patterns: readonly SourcePattern[];
  /** Messages of the days that belong to no pattern above. */
  readonly otherMessages: number;
}

export interface WantedSource {
  readonly address: string;
  readonly range: DayRange;
}

/** How many patterns of a source are read. */
const MAX_PATTERNS = 200;

/**
 * One source in a range: its days and its patterns. An address that sent nothing has no days. Throws `not_found`
 * when the account has no such domain.
 */
export async function readSource(
  reader: Reader,
  scope: DomainScope,
  wanted: WantedSource,
): Promise<SourceOfRange> {
  return await reader.readPlan(() => planSource(scope, wanted));
}

function* planSource(scope: DomainScope, { address, range }: WantedSource): Plan<SourceOfRange> {
  yield* requireDomain(scope);
  const { domainId } = scope;
  const rows = yield* ask(daysOfSource({ domainId, address, from: range.from, to: range.to }));
  const counted = largest(countPatterns(rows));
  const textOf = yield* findTexts(domainId, counted.flatMap(toTextKeys));
  const patterns = counted.flatMap((count) => {
    const [reporter, pattern] = toTextKeys(count).map(({ id }) => textOf.get(id));
    // Without its text, a pattern is one of the others.
    return pattern === undefined ? [] : [toSourcePattern(count, { reporter, pattern })];
  });
  const days = rows.map(({ day, messages, aligned }) => ({ day, messages, aligned }));
  const otherMessages = Math.max(0, sumOf(days) - sumOf(patterns));
  return { days, patterns, otherMessages };
}

type DayOfSource = SourceDay & { readonly details: string };

/** @internal A test reads its query plan. */
export const daysOfSource = prepareQuery<
  { domainId: string; address: string; from: Day; to: Day },
  DayOfSource
>((db, param) =>
  db
    .selectFrom('domain_day as data')
    // SQLite keeps the order of cross joins, and then finds each row by its whole key. Left to itself it reads all
    // addresses of the range.
    .crossJoin('domain_source_ip as source')
    .select(['source.day', 'source.messages', 'source.aligned', 'source.details'])
    .where('data.domain_id', '=', param('domainId'))
    .where('data.day', '>=', param('from'))
    .where('data.day', '<=', param('to'))
    .where('source.domain_id', '=', param('domainId'))
    .whereRef('source.day', '=', 'data.day')
    .where('source.day', '>=', param('from'))
    .where('source.day', '<=', param('to'))
    .where('source.address', '=', param('address'))
    .orderBy('data.day'),
);

/** The messages of a pattern of one reporter, by their ids. */
interface CountedPattern {
  readonly id: string;
  messages: number;
  readonly firstDay: Day;
  lastDay: Day;
}

function countPatterns(rows: readonly DayOfSource[]): CountedPattern[] {
  const counts = new Map<string, CountedPattern>();
  for (const { day, messages, details } of rows)
    for (const [id, count] of fitDetails(parseDetails(details), messages)) {
      const counted = counts.get(id) ?? { id, messages: 0, firstDay: day, lastDay: day };
      counted.messages = addSafely(counted.messages, count);
      counted.lastDay = day;
      counts.set(id, counted);
    }
  return [...counts.values()];
}

/** The month in which a pattern was counted last has its texts. */
function toTextKeys({ id, lastDay }: CountedPattern): [TextKey, TextKey] {
  const month = lastDay.slice(0, 7);
  return [
    { month, id: id.slice(0, REPORTER_ID_CHARS) },
    { month, id: id.slice(REPORTER_ID_CHARS) },
  ];
}

function largest(counts: readonly CountedPattern[]): CountedPattern[] {
  return counts
    .toSorted((a, b) => b.messages - a.messages || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_PATTERNS);
}

function toSourcePattern(
  { messages, firstDay, lastDay }: CountedPattern,
  {
    reporter = 'null',
    pattern,
  }: { readonly reporter?: string | undefined; readonly pattern: string },
): SourcePattern {
  const evaluated = parsePattern(pattern);
  return {
    ...evaluated,
    reporter: JSON.parse(reporter),
    messages,
    aligned: isAligned(evaluated) ? messages : 0,
    first_day: firstDay,
    last_day: lastDay,
  };
}

function sumOf(counts: readonly { readonly messages: number }[]): number {
  return counts.reduce((sum, { messages }) => addSafely(sum, messages), 0);
}
