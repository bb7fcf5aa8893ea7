import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type BoundQuery, type Param, prepareQuery } from '../engine/prepared.ts';
import { SUMS, selectParts, sumOf } from './parts.ts';

/*
 * The addresses of a range: most failed messages first, then most messages, then by address. One pass over the rows of
 * the range's parts finds a page of those that match, and the totals.
 */

type OfPage = { domainId: string; days: string; periods: string; limit: number; offset: number };
export type Column = (typeof SUMS)[number];

interface Totals {
  /** How many addresses match. */
  readonly total: number;
  /** The messages of all addresses, whether or not they match. */
  readonly listed: number;
}

/** An address with the totals; without an address when the page is empty. */
type RankedRow<C extends Column> = Totals & Readonly<Record<C, number> & { address: string }>;

/** Which addresses match. */
type ToCondition<P extends OfPage> = (param: Param<P>) => RawBuilder<unknown>;

const failedIf = (failingOnly: boolean) => () =>
  failingOnly ? sql`messages > aligned` : sql`1 = 1`;

const markedIf = (failingOnly: boolean) => (param: Param<OfMarked>) =>
  sql`${failedIf(failingOnly)()} and ${param('mark')} = coalesce((
    select mark from source_mark
    where domain_id = ${param('domainId')} and address = source.address), 'unmarked')`;

type Bind<P, C extends Column> = (params: P) => BoundQuery<RankedRow<C>>;
type OfMarked = OfPage & { mark: string };

/** Statements for each filter, with the columns that are added up. */
export interface Ranked<C extends Column> {
  readonly all: Bind<OfPage, C>;
  readonly failing: Bind<OfPage, C>;
  readonly allMarked: Bind<OfMarked, C>;
  readonly failingMarked: Bind<OfMarked, C>;
}

function prepareRanked<C extends Column>(columns: readonly C[]): Ranked<C> {
  return {
    all: prepare<OfPage, C>(columns, failedIf(false)),
    failing: prepare<OfPage, C>(columns, failedIf(true)),
    allMarked: prepare<OfMarked, C>(columns, markedIf(false)),
    failingMarked: prepare<OfMarked, C>(columns, markedIf(true)),
  };
}

/** By what addresses are ranked. What else is shown of a page's addresses is read for these alone. */
export const RANKED = prepareRanked(['messages', 'aligned']);
/** With all that groups add up. */
export const RANKED_WITH_SUMS = prepareRanked(SUMS);

function prepare<P extends OfPage, C extends Column>(
  columns: readonly Column[],
  toCondition: ToCondition<P>,
): Bind<P, C> {
  return prepareQuery<P, RankedRow<C>>(
    (db, param) =>
      db
        .with(
          (cte) => cte('source').materialized(),
          (query) =>
            query
              .selectFrom(
                selectParts(
                  db,
                  {
                    domainId: param('domainId'),
                    days: param('days'),
                    periods: param('periods'),
                  },
                  columns,
                ).as('part'),
              )
              .select('address')
              .select(columns.map((column) => sumOf(column).as(column)))
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
        .select(['whole.total', 'whole.listed', 'page.address'])
        .select(columns.map((column) => `page.${column}` as const))
        .orderBy(sql`page.messages - page.aligned`, 'desc')
        .orderBy('page.messages', 'desc')
        .orderBy('page.address') as never,
  );
}

function countIf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`count(case when ${condition} then 1 end)`;
}
