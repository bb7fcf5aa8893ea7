import { addSafely } from '../domain/safe-sum.ts';

/** Messages by what receivers did with them; `other` are those of which it is not known as well. */
export function toDispositions(
  parts: Iterable<readonly [disposition: string | null, messages: number]>,
  total: number,
) {
  const sums = { none: 0, quarantine: 0, reject: 0 };
  for (const [disposition, messages] of parts)
    if (disposition !== null && Object.hasOwn(sums, disposition))
      sums[disposition as 'none'] = addSafely(sums[disposition as 'none'], messages);
  return { ...sums, other: Math.max(0, total - sums.none - sums.quarantine - sums.reject) };
}
