import { type RawBuilder, sql } from 'kysely';

/** The sum of a column and an added value, which stops at 2^53 − 1 (decision 1.18) on every engine. */
export function addedSafely(column: string, added: string): RawBuilder<number> {
  const [to, by] = [sql.ref(column), sql.ref(added)];
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`case when ${to} > ${max} - ${by} then ${max} else ${to} + ${by} end`;
}
