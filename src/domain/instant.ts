/** A time in UTC, RFC 3339, with whole seconds and `Z`. The API and the store have the same text. */
export type Instant = string;
/** A UTC day, `YYYY-MM-DD`. */
export type Day = string;

/** Before and after all instants that are stored. */
export const BEGIN_OF_TIME: Instant = '1970-01-01T00:00:00Z';
export const END_OF_TIME: Instant = '9999-12-31T23:59:59Z';

export function toInstant(date: Date): Instant {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Reads seconds since 1970, up to the year 9999. */
export function secondsToInstant(seconds: number): Instant {
  return toInstant(new Date(seconds * 1000));
}

export function later(instant: Instant, ms: number): Instant {
  return toInstant(new Date(Date.parse(instant) + ms));
}

/** The UTC day an instant falls on. A report's day is that of its `begin_date`. */
export function toDay(instant: Instant): Day {
  return instant.slice(0, 10);
}

export const DAY_MS = 86_400_000;

/** Whether a text is an instant that can be stored. 31 February is none, although `Date.parse` reads it as 3 March. */
export function isInstant(text: string): text is Instant {
  const time = Date.parse(text);
  return text >= BEGIN_OF_TIME && !Number.isNaN(time) && toInstant(new Date(time)) === text;
}

export function isDay(text: string): text is Day {
  return isInstant(`${text}T00:00:00Z`);
}

export function addDays(day: Day, days: number): Day {
  return toDay(new Date(Date.parse(day) + days * DAY_MS).toISOString());
}

/** The Monday of a day's week. */
export function toMonday(day: Day): Day {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
}

export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The days from one to another. Both ends are included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

export function countDays({ from, to }: DayRange): number {
  return daysBetween(from, to) + 1;
}

/** How many whole hours lie between the two instants. */
export function hoursBetween(from: Instant, to: Instant): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / 3_600_000);
}
