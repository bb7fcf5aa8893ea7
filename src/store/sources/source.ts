import { sql } from 'kysely';
import { addUp, type Counts } from '../../domain/alerts/rate.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import {
  type EvaluatedPattern,
  isAligned,
  parsePattern,
} from '../../domain/reports/source-pattern.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader } from '../engine/reader.ts';
import { fitDetails, parseDetails, REPORTER_ID_CHARS } from './days/details.ts';
import { type DomainScope, requireDomain } from './scope.ts';

/** Messages of one source in a range that one reporter evaluated alike: all or none of them passed DMARC. */
export interface SourcePattern extends EvaluatedPattern, Counts {
  readonly reporter: string | null;
  readonly first_day: Day;
  readonly last_day: Day;
}

export interface SourceDay extends Counts {
  readonly day: Day;
}

export interface SourceOfRange {
  /** The days on which it sent something, oldest first. */
  readonly days: readonly SourceDay[];
  /** The largest patterns, largest first. */
  readonly patterns: readonly SourcePattern[];
  /** Messages of the days that belong to no pattern above. */
  readonly otherMessages: number;
}

export interface SourceQuery {
  readonly address: string;
  readonly range: DayRange;
}

const MAX_PATTERNS = 200;

/** An address that sent nothing has no days. Throws `not_found` when the account has no such domain. */
export async function readSource(
  reader: Reader,
  scope: DomainScope,
  query: SourceQuery,
): Promise<SourceOfRange> {
  return await reader.readPlan(() => planSource(scope, query));
}

function* planSource(scope: DomainScope, { address, range }: SourceQuery): Plan<SourceOfRange> {
  yield* requireDomain(scope);
  const { domainId } = scope;
  const rows = yield* ask(daysOfSource({ domainId, address, from: range.from, to: range.to }));
  const counted = largest(countPatterns(rows));
  const textOf = yield* findTexts(domainId, counted.flatMap(toTextKeys));
  const patterns = counted.flatMap((count) => {
    const [reporter, pattern] = toTextKeys(count).map(({ id }) => textOf.get(id));
    // A pattern without a text is counted in `otherMessages`.
    return pattern === undefined ? [] : [toSourcePattern(count, { reporter, pattern })];
  });
  const days = rows.map(({ day, messages, aligned }) => ({ day, messages, aligned }));
  const otherMessages = Math.max(0, addUp(days).messages - addUp(patterns).messages);
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
    // SQLite keeps the order of a cross join, and so finds each row by its whole key. With another join it reads all
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

/** The keys of the names of its reporter and its pattern, in the month in which it was counted last. */
function toTextKeys({ id, lastDay }: CountedPattern): [TextKey, TextKey] {
  const month = lastDay.slice(0, 7);
  return [
    { month, id: id.slice(0, REPORTER_ID_CHARS) },
    { month, id: id.slice(REPORTER_ID_CHARS) },
  ];
}

interface TextKey {
  readonly month: string;
  readonly id: string;
}

function* findTexts(domainId: string, keys: readonly TextKey[]): Plan<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [month, ofMonth] of Map.groupBy(keys, (key) => key.month)) {
    const ids = JSON.stringify(ofMonth.map(({ id }) => id));
    for (const { id, text } of yield* ask(textsOf({ domainId, month, ids }))) found.set(id, text);
  }
  return found;
}

const textsOf = prepareQuery<
  { domainId: string; month: string; ids: string },
  { id: string; text: string }
>((db, param) =>
  db
    .selectFrom('source_text')
    .select(['id', 'text'])
    .where('domain_id', '=', param('domainId'))
    .where('month', '=', param('month'))
    .where(dialectOf(db).isIn(sql.ref('id'), param('ids'))),
);

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

type SourceKey = { domainId: string; address: string };

/** One look into the index of addresses, however much the address sent. */
const prepareEnd = (direction: 'asc' | 'desc') =>
  prepareQuery<SourceKey, { day: Day }>((db, param) =>
    db
      .selectFrom('domain_source_ip')
      .select('day')
      .where('domain_id', '=', param('domainId'))
      .where('address', '=', param('address'))
      .orderBy('day', direction)
      .limit(1),
  );
/** @internal A test reads its query plan. */
export const firstDay = prepareEnd('asc');
/** @internal A test reads its query plan. */
export const lastDay = prepareEnd('desc');

/** The first and the last day on which an address sent in a domain's name; null when it never did. */
export async function readSpan(
  reader: Reader,
  source: SourceKey,
): Promise<{ readonly oldest: Day | null; readonly newest: Day | null }> {
  const [[first], [last]] = await reader.readPlan(() => askAll(firstDay(source), lastDay(source)));
  return { oldest: first?.day ?? null, newest: last?.day ?? null };
}
