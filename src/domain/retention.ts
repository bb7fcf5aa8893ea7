import { addDays, type Day, toDay, toInstant } from './instant.ts';

/** The first day that is kept when everything is kept for so many days; undefined when it is kept for ever. */
export function toFirstKept(now: Date, days: number | undefined): Day | undefined {
  return days === undefined ? undefined : addDays(toDay(toInstant(now)), -days);
}
