import { type Day, daysBetween } from './instant.ts';

/** The days from one to another. Both ends are included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/** How many days a range has, both ends included. */
export function countDays({ from, to }: DayRange): number {
  return daysBetween(from, to) + 1;
}
