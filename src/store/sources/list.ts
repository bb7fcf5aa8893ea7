import type { DayRange } from '../../domain/day-range.ts';
import type { Day } from '../../domain/instant.ts';
import { toSafeCount } from '../../domain/safe-sum.ts';
import type { Mark } from '../../domain/sources/advice.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { PART, SUMS, selectParts, sumOf } from './parts.ts';
import { planParts, type RangeParts, toLists } from './periods.ts';
import { type Column, RANKED, type Ranked } from './ranked.ts';
import type { DomainScope } from './scope.ts';

/** What an address is ranked by. */
export interface RankedSource {
  readonly address: string;
  readonly messages: number;
  /** Messages that passed DMARC. */
  readonly aligned: number;
}

/** What one address sent in a domain's name in a range. */
export interface SourceCounts extends RankedSource {
  /** Messages for which DKIM, and SPF, passed and was aligned. */
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
}

export interface SourceRow extends SourceCounts {
  /** The first and the last day of the range on which it sent something. */
  readonly first_day: Day;
  readonly last_day: Day;
}

export interface ChosenSources {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
}

interface WantedSources extends ChosenSources {
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
 * The addresses that sent in a domain's name in a range: most failed messages first, then most messages, then by
 * address. Reads at most 1,000 rows a day, and of periods that are summed a row an address. Throws `not_found` when the
 * account has no such domain.
 */
export async function readSources(
  reader: Reader,
  scope: DomainScope,
  wanted: WantedSources,
): Promise<SourceList> {
  return await reader.readPlan(function* () {
    const parts = yield* planParts(scope, wanted.range);
    const list = yield* planList(parts, wanted, RANKED);
    const addresses = list.sources.map(({ address }) => address);
    return { ...list, sources: yield* planSourcesOf(parts, addresses) };
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

/** A page of the ranked addresses, as the statement has them. */
export function* planList<C extends Column>(
  parts: RangeParts,
  { limit, offset, failingOnly, mark }: Omit<WantedSources, 'range'>,
  ranked: Ranked<C>,
) {
  const query = { domainId: parts.domainId, ...toLists(parts.cover), limit, offset };
  const rows =
    mark === undefined
      ? yield* ask((failingOnly ? ranked.failing : ranked.all)(query))
      : yield* ask((failingOnly ? ranked.failingMarked : ranked.allMarked)({ ...query, mark }));
  const listed = toSafeCount(Number(rows[0]?.listed ?? 0));
  return {
    ...(yield* planTotals(parts, listed)),
    total: Number(rows[0]?.total ?? 0),
    sources: rows.filter(({ address }) => address !== null),
  };
}

/** What a range has, of which `listed` messages belong to addresses. */
export function* planTotals({ domainId, range }: RangeParts, listed: number) {
  const [day] = yield* ask(messagesOfRange({ domainId, from: range.from, to: range.to }));
  const messages = toSafeCount(Number(day?.messages ?? 0));
  const hasReports = Number(day?.days ?? 0) > 0;
  return { hasReports, messages, unlisted: Math.max(0, messages - listed) };
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

function* planSourcesOf(
  { domainId, cover }: RangeParts,
  addresses: readonly string[],
): Plan<readonly SourceRow[]> {
  if (addresses.length === 0) return [];
  const query = { domainId, ...toLists(cover), addresses: JSON.stringify(addresses) };
  const rows = yield* ask(sourcesOf(query));
  const found = new Map(rows.map((row) => [row.address, toSourceRow(row)]));
  return addresses.map((address) => found.get(address)).filter((row) => row !== undefined);
}

type OfAddresses = { domainId: string; days: string; periods: string; addresses: string };

/** @internal A test reads its query plan. */
export const sourcesOf = prepareQuery<OfAddresses, SourceRow>((db, param) => {
  const ofAddresses = {
    ...{ domainId: param('domainId'), days: param('days'), periods: param('periods') },
    addresses: param('addresses'),
  };
  return db
    .selectFrom(selectParts(db, ofAddresses, PART).as('part'))
    .select('address')
    .select(SUMS.map((column) => sumOf(column).as(column)))
    .select(({ fn }) => [fn.min('first_day').as('first_day'), fn.max('last_day').as('last_day')])
    .groupBy('address');
});

/** Counts that stop where counts do (decision 1.18). */
export function toRankedSource({ address, messages, aligned }: RankedSource): RankedSource {
  return { address, messages: toSafeCount(messages), aligned: toSafeCount(aligned) };
}

/** The same with the other counts. */
export function toSourceCounts(row: SourceCounts): SourceCounts {
  const { dkim_aligned, spf_aligned } = row;
  return {
    ...toRankedSource(row),
    dkim_aligned: toSafeCount(dkim_aligned),
    spf_aligned: toSafeCount(spf_aligned),
  };
}

/** The same with its days. */
export function toSourceRow(row: SourceRow): SourceRow {
  const { first_day, last_day } = row;
  return { ...toSourceCounts(row), first_day, last_day };
}
