import { Failure } from '../../domain/failure.ts';
import type { DayRange } from '../../domain/instant.ts';
import { type Sort, sortFirst } from '../../domain/sort.ts';
import type { Mark } from '../../domain/sources/source.ts';
import { type SourceColumn, toSourceOrder } from '../../domain/sources/source-order.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { MAX_MARKS, type MarkRow, toMarks } from './marks.ts';
import { type SourceSum, type SummedRange, sumRange } from './summed-range.ts';

export interface SourceQuery {
  readonly scope: DomainOfAccount;
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
  /** `failed` when none is given. */
  readonly order?: keyof typeof ORDERS | Sort<SourceColumn> | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly withPatterns?: boolean;
}

/** What sources depend on besides their range. */
export type SourcesState = NonNullable<Awaited<ReturnType<typeof findSourcesState>>>;

export type SourceList = Omit<Awaited<ReturnType<typeof listSources>>, 'counted'>;

/** Throws `not_found` when the account has no such domain. */
export async function listSources(reader: Reader, { scope, range, ...query }: SourceQuery) {
  const state = await readState(reader, scope);
  const { summed, counted } = await sumRange(reader, { ...scope, range }, state.version);
  const { version, days, messages, listed } = summed;
  const { mark, offset, limit, withPatterns = false } = query;
  const all = sortAll(summed, query);
  const isMarked = ({ address }: SourceSum) =>
    mark === (state.marks.get(address)?.mark ?? 'unmarked');
  const matching = mark === undefined ? all : all.filter(isMarked);
  const shown: readonly SourceSum[] = matching.slice(offset, offset + limit);
  return {
    ...state,
    version,
    /** How many days of the range have reports, also when these count no message. */
    days,
    messages,
    counted,
    total: matching.length,
    sources: withPatterns ? shown : shown.map(withoutPatterns),
    /** Messages of the range that belong to no address that is kept: a day keeps its 1,000 largest. */
    unlisted: Math.max(0, messages - listed),
  };
}

/** Once while the range is kept: a list has many pages. */
function sortAll(
  { sources, sorted }: SummedRange,
  { failingOnly, order = 'failed' }: Pick<SourceQuery, 'failingOnly' | 'order'>,
): readonly SourceSum[] {
  const key = JSON.stringify([failingOnly, order]);
  const known = sorted.get(key);
  if (known !== undefined) return known;
  const compare = typeof order === 'string' ? ORDERS[order] : toSourceOrder(order);
  const all = [...sources.values()].filter((one) => !failingOnly || one.messages > one.aligned);
  sorted.set(key, all.sort(inOrder(compare)));
  return all;
}

type Compare = (a: SourceSum, b: SourceSum) => number;

const byMessages: Compare = (a, b) => b.messages - a.messages;

const ORDERS = {
  messages: byMessages,
  /** Most failed messages first. */
  failed: (a: SourceSum, b: SourceSum) =>
    b.messages - b.aligned - (a.messages - a.aligned) || byMessages(a, b),
} as const satisfies Record<string, Compare>;

/** Sources that `compare` does not distinguish are ordered by address. */
const inOrder =
  (compare: Compare): Compare =>
  (a, b) =>
    compare(a, b) || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0);

export function sortFailing(sources: readonly SourceSum[], count: number): SourceSum[] {
  return sortFirst(sources, inOrder(ORDERS.failed), count);
}

const NO_PATTERNS: SourceSum['patterns'] = new Map();

/** Thousands of them take longer to hand over than the rest of a source. */
export function withoutPatterns(source: SourceSum): SourceSum {
  return { ...source, patterns: NO_PATTERNS };
}

/** Throws `not_found` when the account has no such domain. */
export async function readState(reader: Reader, scope: DomainOfAccount) {
  const state = await findSourcesState(reader, scope);
  if (state === undefined) throw new Failure('not_found', 'No such domain.');
  return state;
}

/** undefined when the account has no such domain. */
export async function findSourcesState(reader: Reader, scope: DomainOfAccount) {
  const rows = await reader.readAll(stateOf(scope));
  const [first] = rows;
  const marks = rows.filter((row): row is typeof row & MarkRow => row.address !== null);
  // Each change of the domain's reports gives it another version.
  return first && { version: first.version, domain: first.domain, marks: toMarks(marks) };
}

/** The version with each mark, in one statement: it needs no transaction to be of one moment. */
const stateOf = prepareQuery((db, param: Param<DomainOfAccount>) =>
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
