/** The sum of two counts. It stops at 2^53 − 1, so that it is exact in a double (decision 1.18). */
export function addSafely(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/** A stored count, limited to 2^53 − 1: it may be from before sums were limited. */
export function toSafeCount(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
