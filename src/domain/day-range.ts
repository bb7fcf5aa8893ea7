import type { Day } from './instant.ts';

/** The days from one to another. Both ends are included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}
