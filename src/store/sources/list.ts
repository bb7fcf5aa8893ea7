import type { Day, DayRange } from '../../domain/instant.ts';
import { toSafeCount } from '../../domain/safe-sum.ts';
import type { Mark } from '../../domain/sources/source.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { type CoverLists, PART, type SourceCounts, SUMS, selectParts, sumOf } from './parts.ts';
import { planParts, type RangeParts, toJsonLists } from './periods.ts';
import { rankedSources } from './ranked.ts';
import type { DomainScope } from './scope.ts';

export interface SourceRow extends SourceCounts {
  /** The first and the last day of the range on which it sent something. */
  readonly first_day: Day;
  readonly last_day: Day;
}

export interface SourceFilter {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
}

interface SourcePageQuery extends SourceFilter {
  readonly limit: number;
  readonly offset: number;
}

export interface SourceList<Row = SourceRow> {
  /** Whether a report of the range is stored, also when it counts no message. */
  readonly hasReports: boolean;
  /** How many addresses match. */
  readonly total: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  readonly sources: readonly Row[];
  /** Messages of the range that belong to no address that is kept: a day keeps its 1,000 largest. */
  readonly unlisted: number;
}

/**
 * Most failed messages first, then most messages, then by address. Reads at most 1,000 rows for each day, and one for
 * each address of a period that is summed. Throws `not_found` when the account has no such domain.
 */
export async function readSources(
  reader: Reader,
  scope: DomainScope,
  query: SourcePageQuery,
): Promise<SourceList> {
  return await reader.readPlan(function* () {
    const parts = yield* planParts(scope, query.range);
    const list = yield* planRanked(parts, query);
    const addresses = list.sources.map(({ address }) => address);
    return { ...list, sources: yield* planSourcesOf(parts, addresses) };
  });
}

const MAX_GROUPED = 5_000;

/** The first addresses of a range in the same order, without their days, for a page that groups them. */
export async function readSourcesForGroups(
  reader: Reader,
  scope: DomainScope,
  filter: SourceFilter,
): Promise<SourceList<SourceCounts>> {
  return await reader.readPlan(function* () {
    const parts = yield* planParts(scope, filter.range);
    return yield* planRanked(parts, { ...filter, limit: MAX_GROUPED, offset: 0 });
  });
}

/** Some addresses of a range, in the given order; those that sent nothing in it are left out. */
export async function readSourcesOf(
  reader: Reader,
  scope: DomainScope,
  { range, addresses }: { readonly range: DayRange; readonly addresses: readonly string[] },
): Promise<readonly SourceRow[]> {
  return await reader.readPlan(function* () {
    return yield* planSourcesOf(yield* planParts(scope, range), addresses);
  });
}

function* planRanked(
  { domainId, range, cover }: RangeParts,
  { failingOnly, mark, limit, offset }: SourcePageQuery,
): Plan<SourceList<SourceCounts>> {
  const filter = { failingOnly: failingOnly ? 1 : 0, mark: mark ?? 'any' } as const;
  const rows = yield* ask(
    rankedSources({ domainId, ...toJsonLists(cover), ...filter, limit, offset }),
  );
  const [day] = yield* ask(messagesOfRange({ domainId, from: range.from, to: range.to }));
  const listed = toSafeCount(Number(rows[0]?.listed ?? 0));
  const messages = toSafeCount(Number(day?.messages ?? 0));
  return {
    hasReports: Number(day?.days ?? 0) > 0,
    total: Number(rows[0]?.total ?? 0),
    messages,
    sources: rows.filter(({ address }) => address !== null).map(toSourceCounts),
    unlisted: Math.max(0, messages - listed),
  };
}

type OfRange = { domainId: string; from: Day; to: Day };

const messagesOfRange = prepareQuery<OfRange, { messages: number; days: number }>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(sumOf('messages').as('messages'))
    .select(({ fn }) => fn.countAll<number>().as('days'))
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);

export function* planSourcesOf(
  { domainId, cover }: RangeParts,
  addresses: readonly string[],
): Plan<readonly SourceRow[]> {
  if (addresses.length === 0) return [];
  const query = { domainId, ...toJsonLists(cover), addresses: JSON.stringify(addresses) };
  const rows = yield* ask(sourcesOf(query));
  const found = new Map(rows.map((row) => [row.address, { ...row, ...toSourceCounts(row) }]));
  return addresses.map((address) => found.get(address)).filter((row) => row !== undefined);
}

/** @internal A test reads its query plan. */
export const sourcesOf = prepareQuery<CoverLists & { addresses: string }, SourceRow>((db, param) =>
  db
    .selectFrom(selectParts(db, param, PART, param('addresses')).as('part'))
    .select('address')
    .select(SUMS.map((column) => sumOf(column).as(column)))
    .select(({ fn }) => [fn.min('first_day').as('first_day'), fn.max('last_day').as('last_day')])
    .groupBy('address'),
);

/** Each sum stops at 2^53 − 1. */
function toSourceCounts(row: SourceCounts): SourceCounts {
  return {
    address: row.address,
    messages: toSafeCount(row.messages),
    aligned: toSafeCount(row.aligned),
    dkim_aligned: toSafeCount(row.dkim_aligned),
    spf_aligned: toSafeCount(row.spf_aligned),
  };
}
