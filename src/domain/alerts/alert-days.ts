import { addDays, type Day, type DayRange } from '../instant.ts';
import { findRule } from './registry.ts';

/** A link from an alert shows so many days at most: the names of sources are of a month. */
const LINKED_DAYS = 30;

interface DaysOfAlert {
  readonly type: string;
  /** The day that its context has. */
  readonly day: Day;
  /** When it resolved; today while it is open. */
  readonly end: Day;
}

/** The days that an alert is about, for every link from it. */
export function toAlertDays({ type, day, end }: DaysOfAlert): DayRange {
  if (!findRule(type)?.isLasting || end <= day) return { from: day, to: day };
  const last = addDays(day, LINKED_DAYS - 1);
  return { from: day, to: end < last ? end : last };
}
