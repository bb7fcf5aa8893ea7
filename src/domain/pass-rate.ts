import type { Day } from './instant.ts';
import { addSafely } from './safe-sum.ts';

/** Messages, and how many of them passed DMARC. */
export interface Counts {
  readonly messages: number;
  readonly aligned: number;
}

/** The counts of one day, exact. */
export interface DayCounts extends Counts {
  readonly day: Day;
}

export function addUp(all: readonly Counts[]): Counts {
  const sum = { messages: 0, aligned: 0 };
  for (const counts of all) addTo(sum, counts);
  return sum;
}

export function addTo(
  sum: { messages: number; aligned: number },
  { messages, aligned }: Counts,
): void {
  sum.messages = addSafely(sum.messages, messages);
  sum.aligned = addSafely(sum.aligned, aligned);
}

export function failedOf({ messages, aligned }: Counts): number {
  return messages - aligned;
}

/**
 * The pass rate, 0 to 100, rounded to two decimals, halves up. Only 100 means that every message passed, and only 0
 * that none did. Everything that shows a rate uses this (decision 98). There must be messages.
 */
export function toPassRate(counts: Counts): number {
  return toHundredthsOfRate(counts) / 100;
}

/** How many points the pass rate is below the one before, rounded to two decimals once: after the difference. */
export function toDrop(before: Counts, after: Counts): number {
  const { over, under } = difference(before, after);
  const size = roundHalfUp((over < 0n ? -over : over) * 10_000n, under);
  return Number(over < 0n ? -size : size) / 100;
}

/** The points that the pass rate rose by; undefined without messages before or now. */
export function toChange({ counts, before }: { readonly counts: Counts; readonly before: Counts }) {
  if (counts.messages === 0 || before.messages === 0) return undefined;
  return toDrop(counts, before);
}

/** Whether the rate fell by at least `points`, in whole numbers: in floating point, ten could become 9.999…. */
export function isDrop(before: Counts, after: Counts, points: number): boolean {
  const { over, under } = difference(before, after);
  return over * 10_000n >= toHundredthsOfPoints(points) * under;
}

/** Whether the rate fell by at most `points`. */
export function isWithin(before: Counts, after: Counts, points: number): boolean {
  const { over, under } = difference(before, after);
  return over * 10_000n <= toHundredthsOfPoints(points) * under;
}

/** The rate before minus the rate after, as a fraction. */
function difference(before: Counts, after: Counts): { over: bigint; under: bigint } {
  const [b, a] = [BigInt(before.messages), BigInt(after.messages)];
  return { over: BigInt(before.aligned) * a - BigInt(after.aligned) * b, under: a * b };
}

/** Thresholds have at most two decimals. */
function toHundredthsOfPoints(points: number): bigint {
  return BigInt(Math.round(points * 100));
}

function toHundredthsOfRate({ messages, aligned }: Counts): number {
  const rounded = Number(roundHalfUp(BigInt(aligned) * 10_000n, BigInt(messages)));
  if (rounded === 10_000 && aligned < messages) return 9_999;
  return rounded === 0 && aligned > 0 ? 1 : rounded;
}

function roundHalfUp(over: bigint, under: bigint): bigint {
  return (over * 2n + under) / (under * 2n);
}
