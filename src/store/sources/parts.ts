import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { wordsOf } from '../connection/words.ts';
import type { Tables } from '../tables.ts';

/** What is added up of an address. */
export const SUMS = ['messages', 'aligned', 'dkim_aligned', 'spf_aligned'] as const;

/** The days and the periods of a cover are JSON arrays of texts. */
export interface PartsOf {
  readonly domainId: Expression<string>;
  readonly days: Expression<string>;
  readonly periods: Expression<string>;
}

/** What each address sent on each of the days and in each of the periods: a row for each part that has it. */
export function selectParts(db: Kysely<Tables>, { domainId, days, periods }: PartsOf) {
  const { isIn } = wordsOf(db);
  return db
    .selectFrom('domain_source_ip')
    .select(['address', ...SUMS, 'day as first_day', 'day as last_day'])
    .where('domain_id', '=', domainId)
    .where(isIn(sql.ref('day'), days))
    .unionAll(
      db
        .selectFrom('source_sum')
        .select(['address', ...SUMS, 'first_day', 'last_day'])
        .where('domain_id', '=', domainId)
        .where(isIn(sql.ref('period'), periods)),
    );
}

/**
 * The sum of a column, or of an expression, as a floating-point number: exact up to 2^53, where counts stop (decision
 * 1.18). The sum of many counts of that size would be more than an int64.
 */
export function sumOf(counted: string | RawBuilder<number>): RawBuilder<number> {
  const value = typeof counted === 'string' ? sql.ref(counted) : counted;
  return sql<number>`coalesce(sum(cast(${value} as double precision)), 0)`;
}
