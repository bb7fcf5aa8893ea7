interface Counts {
  readonly few: number;
  readonly full: number;
  /** Instead of `few` on PostgreSQL, where a case takes longer. */
  readonly fewOnPostgres?: number;
  /** Instead of `full` on PostgreSQL. */
  readonly fullOnPostgres?: number;
}

/** `FULL_COUNTS=1`, which steps of `.ci/run` set, is more cases than in `npm test`; 5, at a desk, five times as many. */
export const TIMES_FULL = Number(process.env['FULL_COUNTS'] ?? 0);

/** How many random cases a slow test tries. */
export function caseCount(counts: Counts): number {
  const { few, full, fewOnPostgres = few, fullOnPostgres = full } = counts;
  const isPostgres = process.env['TEST_STORE'] === 'postgres';
  const most = isPostgres ? fullOnPostgres : full;
  // What is less than few is a distance between cases.
  if (TIMES_FULL > 0) return full > few ? TIMES_FULL * most : most;
  return isPostgres ? fewOnPostgres : few;
}
