/**
 * How many random cases a slow test tries: few in `npm test`, all of them with `FULL_COUNTS=1`, which a step of
 * `.ci/run` sets.
 */
export function caseCount({ few, full }: { few: number; full: number }): number {
  return process.env['FULL_COUNTS'] === '1' ? full : few;
}
