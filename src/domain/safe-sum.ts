/** The sum of two counts. It stops at 2^53 − 1, the largest integer that every JSON parser reads exactly. */
export function addSafely(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
