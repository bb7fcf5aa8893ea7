import { isDeepStrictEqual } from 'node:util';

/** What is known of something that DNS is asked for each day. What a check finds counts once the next one has found the same. */
export interface CheckState<Found> {
  /** First, because the store looks for it (store/alerts/daily-checks.ts). */
  readonly candidate: Found | null;
  /** null until a first check was confirmed. */
  readonly confirmed: Found | null;
}

export const UNCHECKED: CheckState<never> = { candidate: null, confirmed: null };

interface Judging<Found> {
  /** A person asked, and is told what was found at once. */
  readonly isAsked: boolean;
  readonly isSame?: (a: Found, b: Found) => boolean;
}

export function addFound<Found>(
  { confirmed, candidate }: CheckState<Found>,
  found: Found,
  { isAsked, isSame = isDeepStrictEqual }: Judging<Found>,
): CheckState<Found> {
  if (confirmed !== null && isSame(confirmed, found)) return { candidate: null, confirmed };
  const isSettled = isAsked || (candidate !== null && isSame(candidate, found));
  return isSettled ? { candidate: null, confirmed: found } : { candidate: found, confirmed };
}
