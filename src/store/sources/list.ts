import { Failure } from '../../domain/failure.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { sortFirst } from '../../domain/sort.ts';
import type { Mark } from '../../domain/sources/source.ts';
import { prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import {
  byFailed,
  byMessages,
  type PatternSums,
  type SourceSum,
  sumPatterns,
  sumSources,
} from './days.ts';
import { MAX_MARKS, type MarkRow, type Marks, toMarks } from './marks.ts';
import { listUnsummed, planParts } from './months.ts';

export interface SourceQuery {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
  /** `failed` when none is given. */
  readonly order?: keyof typeof ORDERS | ((a: SourceSum, b: SourceSum) => number) | undefined;
  readonly limit: number;
  readonly offset: number;
}

const ORDERS = { failed: byFailed, messages: byMessages } as const;

/** What sources depend on besides their range. */
export interface SourcesState {
  /** Another one after each change of the domain's reports. */
  readonly version: string;
  /** The domain's name. */
  readonly domain: string;
  readonly marks: Marks;
}

export interface SourceList extends SourcesState {
  /** Whether a report of the range is stored, also when it counts no message. */
  readonly hasReports: boolean;
  /** How many addresses match. */
  readonly total: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  /** In their order, equals by address. */
  readonly sources: readonly SourceSum[];
  /** Messages of the range that belong to no address that is kept: a day keeps its 1,000 largest. */
  readonly unlisted: number;
  /** Months that are to be summed (months.ts). */
  readonly unsummed: readonly Day[];
  /** What reporters said of the mail of these sources. */
  readonly sumPatterns: () => Promise<PatternSums>;
}

/** Reads a row for each month of the range that is summed, and for each other day. Throws `not_found` when the account has no such domain. */
export async function readSources(
  reader: Reader,
  scope: DomainOfAccount,
  { range, failingOnly, mark, order = 'failed', limit, offset }: SourceQuery,
): Promise<SourceList> {
  const { domainId } = scope;
  const { version, domain, marks, parts } = await reader.readPlan(function* () {
    const state = yield* planState(scope);
    if (state === undefined) throw new Failure('not_found', 'No such domain.');
    return { ...state, parts: yield* planParts({ domainId, ...range }) };
  });
  const { sums, damaged } = await sumSources(parts);
  const isListed = ({ address, messages, aligned }: SourceSum) =>
    (!failingOnly || messages > aligned) &&
    (mark === undefined || mark === (marks.get(address)?.mark ?? 'unmarked'));
  const matching = sums.filter(isListed);
  const compare = typeof order === 'string' ? ORDERS[order] : order;
  const messages = sumOf(parts);
  const sources = sortFirst(matching, compare, offset + limit).slice(offset);
  const addresses = sources.map(({ address }) => address);
  return {
    ...{ version, domain, marks },
    hasReports: parts.length > 0,
    total: matching.length,
    messages,
    sources,
    unlisted: Math.max(0, messages - sumOf(sums)),
    unsummed: listUnsummed(parts, range.from, damaged),
    sumPatterns: () => sumPatterns(parts, addresses),
  };
}

/** undefined when the account has no such domain. */
export function findSourcesState(
  reader: Reader,
  scope: DomainOfAccount,
): Promise<SourcesState | undefined> {
  return reader.readAll(stateOf(scope)).then(toState);
}

function* planState(scope: DomainOfAccount): Plan<SourcesState | undefined> {
  return toState(yield* ask(stateOf(scope)));
}

/** The version with each mark, in one statement: it needs no transaction to be of one moment. */
const stateOf = prepareQuery<DomainOfAccount, Named & OrNull<MarkRow>>((db, param) =>
  db
    .selectFrom('domain')
    .leftJoin('source_mark', 'source_mark.domain_id', 'domain.id')
    .select([
      'reports_version as version',
      'domain.name as domain',
      'address',
      'mark',
      'marked_at',
      'marked_by',
    ])
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId'))
    .orderBy('address')
    .limit(MAX_MARKS),
);

type Named = Pick<SourcesState, 'version' | 'domain'>;
type OrNull<Row> = { [Name in keyof Row]: Row[Name] | null };

function toState(rows: readonly RowOfQuery<typeof stateOf>[]): SourcesState | undefined {
  const [first] = rows;
  const marks = rows.filter((row): row is typeof row & MarkRow => row.address !== null);
  return first && { version: first.version, domain: first.domain, marks: toMarks(marks) };
}

function sumOf(counts: readonly { readonly messages: number }[]): number {
  return counts.reduce((sum, { messages }) => addSafely(sum, Number(messages)), 0);
}
