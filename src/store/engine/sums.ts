import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * The sum of a column's counts, where a condition holds, if one is given. It stops at 2^53 − 1, as every count: up to there
 * floating-point numbers are exact, and no engine's sum of them is an error. No rows have the sum 0.
 */
export function sumOf(
  column: string,
  condition: Expression<SqlBool> = sql<SqlBool>`1 = 1`,
): RawBuilder<number> {
  const value = sql`cast(${sql.ref(column)} as double precision)`;
  const sum = sql`sum(case when ${condition} then ${value} else 0 end)`;
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`cast(case when ${sum} > ${max} then ${max} else coalesce(${sum}, 0) end as bigint)`;
}
