import { DAY_MS, type Day, type Instant, later, toDay, toMonday } from '../../domain/instant.ts';
import type { Pace } from '../../store/people/person-mail.ts';

/* When mails go: nobody gets more than they can read, and nothing is left out. */

/** The most mails of all kinds together. */
const MAX_A_DAY = 50;
/** The last five are for links that somebody waits for: nobody can use them up with news, such as forged alerts. */
const MAX_NEWS = MAX_A_DAY - 5;
/** So many are about anything but alerts: a member who makes keys all day keeps no alert from an owner. */
const MAX_OTHERS = 15;
/** So many mails in BURST_MS are for one change each. Ten at once, and what comes besides, are one mail with all of them. */
const MAX_BURST = 9;
const BURST_MS = 10 * 60_000;
/** The daily mail and the summary go at this hour, UTC. */
const DAILY_HOUR = 7;

type Wait = { readonly kind: 'wait'; readonly ms: number };

/** What becomes of the first of the changes that wait for a person who is told at once. */
export function planMail(
  pace: Pace,
  waiting: number,
  now: Instant,
): { readonly kind: 'single' | 'list'; readonly isLastToday: boolean; readonly pace: Pace } | Wait {
  const plan = planOther(pace, 'alert', now);
  if (plan.kind === 'wait') return plan;
  const sent = plan.pace.sent - 1;
  const isBurst = pace.burstSince !== null && now < later(pace.burstSince, BURST_MS);
  const burstSince = isBurst ? pace.burstSince : now;
  const burst = isBurst ? pace.burst : 0;
  const isList = waiting > Math.min(MAX_BURST - burst, MAX_NEWS - sent);
  if (isList && isBurst && sent < MAX_NEWS - 1)
    return { kind: 'wait', ms: msUntil(later(burstSince as Instant, BURST_MS), now) };
  return {
    kind: isList ? 'list' : 'single',
    isLastToday: sent + 1 === MAX_NEWS,
    pace: { ...plan.pace, burstSince, burst: burst + 1 },
  };
}

/** What becomes of a mail of a kind. Those about keys are ten minutes apart, and have all that were made meanwhile. */
export function planOther(
  pace: Pace,
  kind: 'alert' | 'link' | 'keys' | 'other',
  now: Instant,
): { readonly kind: 'single'; readonly pace: Pace } | Wait {
  const today = toDay(now);
  const isOther = kind === 'keys' || kind === 'other';
  const { sent, others } = pace.sentOn === today ? pace : { sent: 0, others: 0 };
  if (sent >= (kind === 'link' ? MAX_A_DAY : MAX_NEWS) || (isOther && others >= MAX_OTHERS))
    return { kind: 'wait', ms: msUntil(later(`${today}T00:00:00Z`, DAY_MS), now) };
  const free = later(pace.keysAt ?? now, BURST_MS);
  if (kind === 'keys' && pace.keysAt !== null && now < free)
    return { kind: 'wait', ms: msUntil(free, now) };
  const counts = { sentOn: today, sent: sent + 1, others: others + Number(isOther) };
  const keysAt = kind === 'keys' ? now : pace.keysAt;
  return { kind: 'single', pace: { ...pace, ...counts, keysAt } };
}

/** The newest time for daily mails: what happened before it is due. */
export function findDailyTime(now: Instant): Instant {
  const time = `${toDay(now)}T${String(DAILY_HOUR).padStart(2, '0')}:00:00Z`;
  return time <= now ? time : later(time, -DAY_MS);
}

/** The time to the next daily mails, which have what happened after `findDailyTime`. */
export function msUntilDaily(now: Instant): number {
  return msUntil(later(findDailyTime(now), DAY_MS), now);
}

/** The newest Monday whose summary is due. */
export const findMonday = (now: Instant): Day => toMonday(toDay(findDailyTime(now)));

const msUntil = (instant: Instant, now: Instant): number =>
  Math.max(Date.parse(instant) - Date.parse(now), 0);
