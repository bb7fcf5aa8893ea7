import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { wordsOf } from '../engine/words.ts';
import type { Tables } from '../tables.ts';

/** What is added up of an address. */
export const SUMS = ['messages', 'aligned', 'dkim_aligned', 'spf_aligned'] as const;

/** What a part has of an address: a day is its own first and last one. */
export const PART = [...SUMS, 'first_day', 'last_day'] as const;
export type PartColumn = (typeof PART)[number];

/** The days and the periods of a cover are JSON arrays of texts. So are addresses: without them, all are read. */
export interface PartsOf {
  readonly domainId: Expression<string>;
  readonly days: Expression<string>;
  readonly periods: Expression<string>;
  readonly addresses?: Expression<string>;
}

/**
 * What each address sent on each of the days and in each of the periods: a row for each part that has it. Each column
 * costs: the rows of a range are sorted with all of them.
 */
export function selectParts(
  db: Kysely<Tables>,
  { domainId, days, periods, addresses }: PartsOf,
  columns: readonly PartColumn[],
) {
  const { isIn } = wordsOf(db);
  const isChosen =
    addresses === undefined ? sql<SqlBool>`1 = 1` : isIn(sql.ref('address'), addresses);
  return db
    .selectFrom('domain_source_ip')
    .select(['address', ...columns.map(toDayColumn)])
    .where('domain_id', '=', domainId)
    .where(isIn(sql.ref('day'), days))
    .where(isChosen)
    .unionAll(
      db
        .selectFrom('source_sum')
        .select(['address', ...columns])
        .where('domain_id', '=', domainId)
        .where(isIn(sql.ref('period'), periods))
        .where(isChosen),
    );
}

function toDayColumn(column: PartColumn) {
  return column === 'first_day' || column === 'last_day' ? (`day as ${column}` as const) : column;
}

/**
 * The sum of a column, or of an expression, as a floating-point number: exact up to 2^53, where counts stop (decision
 * 1.18). The sum of many counts of that size would be more than an int64.
 */
export function sumOf(counted: string | RawBuilder<number>): RawBuilder<number> {
  const value = typeof counted === 'string' ? sql.ref(counted) : counted;
  return sql<number>`coalesce(sum(cast(${value} as double precision)), 0)`;
}
