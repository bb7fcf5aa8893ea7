import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DayRange } from '../../domain/day-range.ts';
import type { Day } from '../../domain/instant.ts';
import { toSafeCount } from '../../domain/safe-sum.ts';
import type { Mark } from '../../domain/sources/advice.ts';
import { ask, type Plan } from '../connection/plan.ts';
import { type Param, prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import { SUMS, selectParts, sumOf } from './parts.ts';
import { planCover, toLists } from './periods.ts';
import { type DomainScope, requireDomain } from './scope.ts';

/** What one address sent in a domain's name in a range. */
export interface SourceRow {
  readonly address: string;
  readonly messages: number;
  /** Messages that passed DMARC. */
  readonly aligned: number;
  /** Messages for which DKIM, and SPF, passed and was aligned. */
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
  /** The first and the last day of the range on which it sent something. */
  readonly first_day: Day;
  readonly last_day: Day;
}

export interface WantedSources {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface SourceList {
  /** Whether a report of the range is stored, also when it counts no message. */
  readonly hasReports: boolean;
  /** How many addresses match. */
  readonly total: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  readonly sources: readonly SourceRow[];
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
  return await reader.readPlan(() => planSources(scope, wanted));
}

/** How many addresses are grouped, at most. */
const MAX_GROUPED = 5_000;

/** The first addresses of a range for a page that groups them, in the same order. */
export async function readSourcesForGroups(
  reader: Reader,
  scope: DomainScope,
  wanted: Pick<WantedSources, 'range' | 'failingOnly' | 'mark'>,
): Promise<SourceList> {
  return await readSources(reader, scope, { ...wanted, limit: MAX_GROUPED, offset: 0 });
}

function* planSources(scope: DomainScope, wanted: WantedSources): Plan<SourceList> {
  yield* requireDomain(scope);
  const { limit, offset, failingOnly, mark } = wanted;
  const { from, to } = wanted.range;
  const { domainId } = scope;
  const [day] = yield* ask(messagesOfRange({ domainId, from, to }));
  const cover = yield* planCover(domainId, wanted.range);
  const query = { domainId, ...toLists(cover), limit, offset };
  const rows =
    mark === undefined
      ? yield* ask((failingOnly ? failingSources : allSources)(query))
      : yield* ask((failingOnly ? failingMarked : allMarked)({ ...query, mark }));
  const messages = toSafeCount(Number(day?.messages ?? 0));
  const listed = toSafeCount(Number(rows[0]?.listed ?? 0));
  return {
    hasReports: Number(day?.days ?? 0) > 0,
    total: Number(rows[0]?.total ?? 0),
    messages,
    sources: rows.filter(({ address }) => address !== null).map(toSourceRow),
    unlisted: Math.max(0, messages - listed),
  };
}

type OfRange = { domainId: string; from: Day; to: Day };
type OfPage = { domainId: string; days: string; periods: string; limit: number; offset: number };

/** A row of the page with the totals; without an address when the page is empty. */
interface FoundSource extends SourceRow {
  readonly total: number;
  readonly listed: number;
}

const messagesOfRange = prepareQuery<OfRange, { messages: number; days: number }>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(sumOf('messages').as('messages'))
    .select(({ fn }) => fn.countAll<number>().as('days'))
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);

/** @internal Tests read the query plans. */
export const allSources = prepareSources<OfPage>(failedIf(false));
/** @internal */
export const failingSources = prepareSources<OfPage>(failedIf(true));
/** @internal */
export const allMarked = prepareMarked(false);
const failingMarked = prepareMarked(true);

function prepareMarked(failingOnly: boolean) {
  return prepareSources<OfPage & { mark: string }>(
    (param) => sql`${failedIf(failingOnly)()} and ${param('mark')} = coalesce((
      select mark from source_mark
      where domain_id = ${param('domainId')} and address = source.address), 'unmarked')`,
  );
}

function failedIf(failingOnly: boolean): () => RawBuilder<unknown> {
  return () => (failingOnly ? sql`messages > aligned` : sql`1 = 1`);
}

/** One pass over the rows of the range's parts gives the page of those that match, and the totals. */
function prepareSources<P extends OfPage>(toCondition: (param: Param<P>) => RawBuilder<unknown>) {
  return prepareQuery<P, FoundSource>(
    (db, param) =>
      db
        .with(
          (cte) => cte('source').materialized(),
          (query) =>
            query
              .selectFrom(
                selectParts(db, {
                  domainId: param('domainId'),
                  days: param('days'),
                  periods: param('periods'),
                }).as('part'),
              )
              .select('address')
              .select(SUMS.map((column) => sumOf(column).as(column)))
              .select(({ fn }) => [
                fn.min('first_day').as('first_day'),
                fn.max('last_day').as('last_day'),
              ])
              .groupBy('address'),
        )
        .with('page', (query) =>
          query
            .selectFrom('source')
            .selectAll()
            .where(toCondition(param) as RawBuilder<SqlBool>)
            .orderBy(sql`messages - aligned`, 'desc')
            .orderBy('messages', 'desc')
            .orderBy('address')
            .limit(param('limit'))
            .offset(param('offset')),
        )
        .with('whole', (query) =>
          query
            .selectFrom('source')
            .select(sql<number>`coalesce(sum(messages), 0)`.as('listed'))
            .select(countIf(toCondition(param)).as('total')),
        )
        .selectFrom('whole')
        .leftJoin('page', (join) => join.onTrue())
        .select(['whole.total', 'whole.listed'])
        .select(['page.address', 'page.first_day', 'page.last_day'])
        .select(SUMS.map((column) => `page.${column}` as const))
        .orderBy(sql`page.messages - page.aligned`, 'desc')
        .orderBy('page.messages', 'desc')
        .orderBy('page.address') as never,
  );
}

function countIf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`count(case when ${condition} then 1 end)`;
}

/** A row whose counts stop where counts do (decision 1.18). */
export function toSourceRow(row: SourceRow): SourceRow {
  const { address, messages, aligned, dkim_aligned, spf_aligned, first_day, last_day } = row;
  return {
    address,
    messages: toSafeCount(messages),
    aligned: toSafeCount(aligned),
    dkim_aligned: toSafeCount(dkim_aligned),
    spf_aligned: toSafeCount(spf_aligned),
    first_day,
    last_day,
  };
}
