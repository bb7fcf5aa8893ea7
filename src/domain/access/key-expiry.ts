import { Failure } from '../failure.ts';
import { addDays, DAY_MS, type Instant, isDay, later } from '../instant.ts';

/** Ten years. A key for longer is a key that does not expire. */
const MAX_DAYS = 3_650;

/** What the form offers, in days. */
export const EXPIRY_DAYS = [30, 90, 365] as const;

/** `none` (null), days from now (`90`, `90d`) or a last day in UTC (`2027-03-15`). Throws `validation_error`. */
export function parseKeyExpiry(text: string, now: Instant): Instant | null {
  if (text === 'none') return null;
  const days = /^(\d{1,4})d?$/.exec(text)?.[1];
  const expiresAt = days === undefined ? toEndOf(text) : later(now, Number(days) * DAY_MS);
  if (expiresAt === undefined || expiresAt <= now || expiresAt > later(now, MAX_DAYS * DAY_MS))
    throw new Failure(
      'validation_error',
      'A key expires never, or within the next ten years: choose a number of days, or a day from today on.',
    );
  return expiresAt;
}

/** Whether a key has expired: it is accepted in the second before this instant, and not in its own. */
export function isExpired(expiresAt: Instant | null, now: Instant): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function toEndOf(day: string): Instant | undefined {
  // The day after the last one of the year 9999 has five digits.
  return isDay(day) && day < '9999' ? `${addDays(day, 1)}T00:00:00Z` : undefined;
}
