/** The sum of two counts; it stops at 2^53 − 1, so that it is exact in a double (decision 1.18). */
export function addSafely(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
