import { type RawBuilder, sql } from 'kysely';

/** A column with another one added; the sum stops at 2^53 − 1 (decision 1.18) on every engine. */
export function addedSafely(column: string, added: string): RawBuilder<number> {
  const [to, by] = [sql.ref(column), sql.ref(added)];
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`case when ${to} > ${max} - ${by} then ${max} else ${to} + ${by} end`;
}
