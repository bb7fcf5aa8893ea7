import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';

/** A page searches and sorts so many of the latest reports or alerts, and no more (decision 126). */
export const MAX_SEARCHED = 5_000;

/** Whether one of the columns contains a text: what `toLikePattern` makes of it. Case counts in no ASCII letter. */
export function contains(
  columns: readonly string[],
  pattern: Expression<string> | string,
): RawBuilder<SqlBool> {
  const matches = columns.map(
    (column) => sql`lower(coalesce(${sql.ref(column)}, '')) like ${pattern} escape '\\'`,
  );
  return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
}

/** For `contains`. Every text contains the empty one. */
export function toLikePattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
