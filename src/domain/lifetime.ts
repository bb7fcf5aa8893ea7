import { type Instant, toInstant } from './instant.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A session ends when nobody has used it for this long … */
export const SESSION_IDLE_MS = 7 * DAY_MS;
/** … and after this long however much it is used. */
export const SESSION_MS = 30 * DAY_MS;
/** How long a one-time link (an invitation, a forgotten password) can be followed. */
export const LINK_MS = 24 * HOUR_MS;
/** A session's last use is written at most this often. */
export const SESSION_TOUCH_MS = 60_000;

/** `ms` after an instant; negative for before it. */
export function later(instant: Instant, ms: number): Instant {
  return toInstant(new Date(Date.parse(instant) + ms));
}
