import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { prepareQuery } from '../engine/prepared.ts';
import { type CoverLists, type SourceCounts, SUMS, selectParts, sumOf } from './parts.ts';

type RankedPage = CoverLists & {
  /** 1: only addresses of which a message failed. */
  failingOnly: 0 | 1;
  /** Only addresses with this mark; `unmarked`: those without one; `any`: all. */
  mark: string;
  limit: number;
  offset: number;
};

/** An address with the totals; one row without an address when the page is empty. */
interface RankedRow extends SourceCounts {
  readonly total: number;
  /** The messages of all addresses, whether or not they match. */
  readonly listed: number;
}

/** Most failed messages first, then most messages, then by address. One pass over the rows finds page and totals. */
export const rankedSources = prepareQuery<RankedPage, RankedRow>((db, param) => {
  const matches = sql<SqlBool>`(${param('failingOnly')} = 0 or messages > aligned)
    and (${param('mark')} = 'any' or ${param('mark')} = coalesce((
      select mark from source_mark
      where domain_id = ${param('domainId')} and address = source.address), 'unmarked'))`;
  return db
    .with(
      (cte) => cte('source').materialized(),
      (query) =>
        query
          .selectFrom(selectParts(db, param, SUMS).as('part'))
          .select('address')
          .select(SUMS.map((column) => sumOf(column).as(column)))
          .groupBy('address'),
    )
    .with('page', (query) =>
      query
        .selectFrom('source')
        .selectAll()
        .where(matches)
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
        .select(countIf(matches).as('total')),
    )
    .selectFrom('whole')
    .leftJoin('page', (join) => join.onTrue())
    .select(['whole.total', 'whole.listed', 'page.address'])
    .select(SUMS.map((column) => `page.${column}` as const))
    .orderBy(sql`page.messages - page.aligned`, 'desc')
    .orderBy('page.messages', 'desc')
    .orderBy('page.address') as never;
});

function countIf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`count(case when ${condition} then 1 end)`;
}
