import { addSafely } from '../safe-sum.ts';

/** Messages, and how many of them passed DMARC. */
export interface Counts {
  readonly messages: number;
  readonly aligned: number;
}

export function addUp(days: readonly Counts[]): Counts {
  return days.reduce(
    (sum, { messages, aligned }) => ({
      messages: addSafely(sum.messages, messages),
      aligned: addSafely(sum.aligned, aligned),
    }),
    { messages: 0, aligned: 0 },
  );
}

/** The pass rate, 0 to 100 with at most two decimals. There must be messages. */
export function toPassRate({ messages, aligned }: Counts): number {
  return toHundredths(BigInt(aligned) * 100n, BigInt(messages));
}

/** By how many points the pass rate is below the one before, with at most two decimals. */
export function toDrop(before: Counts, after: Counts): number {
  const { over, under } = difference(before, after);
  return toHundredths(over * 100n, under);
}

/**
 * Whether the pass rate is at least `points` below the one before. Computed in whole numbers: in floating
 * point, a drop of exactly ten points could become 9.999….
 */
export function isDrop(before: Counts, after: Counts, points: number): boolean {
  const { over, under } = difference(before, after);
  return over * 10_000n >= toHundreds(points) * under;
}

/** Whether the pass rate is at most `points` below the one before. */
export function isWithin(before: Counts, after: Counts, points: number): boolean {
  const { over, under } = difference(before, after);
  return over * 10_000n <= toHundreds(points) * under;
}

/** The rate before minus the rate after, as a fraction. */
function difference(before: Counts, after: Counts): { over: bigint; under: bigint } {
  const [b, a] = [BigInt(before.messages), BigInt(after.messages)];
  return { over: BigInt(before.aligned) * a - BigInt(after.aligned) * b, under: a * b };
}

/** Thresholds have at most two decimals. */
function toHundreds(points: number): bigint {
  return BigInt(Math.round(points * 100));
}

/** Rounds a fraction to two decimals, halves away from zero. */
function toHundredths(over: bigint, under: bigint): number {
  const sign = over < 0n ? -1n : 1n;
  const rounded = (over * sign * 200n + under) / (under * 2n);
  return Number(rounded * sign) / 100;
}
