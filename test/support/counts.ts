interface Counts {
  readonly few: number;
  readonly full: number;
  /** Instead of `few` on PostgreSQL, where a case takes longer. */
  readonly fewOnPostgres?: number;
  /** Instead of `full` on PostgreSQL. */
  readonly fullOnPostgres?: number;
}

/**
 * How many random cases a slow test tries: few in `npm test`, all of them with `FULL_COUNTS=1`, which steps of
 * `.ci/run` set.
 */
export function caseCount(counts: Counts): number {
  const { few, full, fewOnPostgres = few, fullOnPostgres = full } = counts;
  const isPostgres = process.env['TEST_STORE'] === 'postgres';
  if (process.env['FULL_COUNTS'] === '1') return isPostgres ? fullOnPostgres : full;
  return isPostgres ? fewOnPostgres : few;
}
