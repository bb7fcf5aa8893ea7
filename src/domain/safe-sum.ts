/** The sum of two counts. It stops at 2^53 − 1, the largest integer that every JSON parser reads exactly. */
export function addSafely(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/** A sum that the database made, limited to 2^53 − 1. */
export function toSafeCount(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
