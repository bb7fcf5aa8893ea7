interface Counts {
  readonly few: number;
  readonly full: number;
  /** Instead of `few` on PostgreSQL, where a case takes longer. */
  readonly fewOnPostgres?: number;
}

/**
 * How many random cases a slow test tries: few in `npm test`, all of them with `FULL_COUNTS=1`, which steps of
 * `.ci/run` set.
 */
export function caseCount({ few, full, fewOnPostgres = few }: Counts): number {
  if (process.env['FULL_COUNTS'] === '1') return full;
  return process.env['TEST_STORE'] === 'postgres' ? fewOnPostgres : few;
}
