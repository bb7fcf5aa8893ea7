import { type Instant, toInstant } from '../instant.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A session that is not used for this long ends. */
export const SESSION_IDLE_MS = 7 * DAY_MS;
/** Every session ends after this long, even when it is in use. */
export const SESSION_MS = 30 * DAY_MS;
/** How long a one-time link (an invitation, a password reset) is valid. */
export const LINK_MS = 24 * HOUR_MS;
/** How long a person who has entered the password has for the code of their second factor. */
export const PENDING_SIGN_IN_MS = 10 * 60_000;
/** The last use of a session is written at most this often. */
export const SESSION_TOUCH_MS = 60_000;

/** The instant `ms` after another one, or before it when negative. */
export function later(instant: Instant, ms: number): Instant {
  return toInstant(new Date(Date.parse(instant) + ms));
}
