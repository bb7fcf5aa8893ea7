/** A time in UTC, RFC 3339, with whole seconds and `Z`. The API and the store have the same text. */
export type Instant = string;
/** A UTC day, `YYYY-MM-DD`. */
export type Day = string;

export function toInstant(date: Date): Instant {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** From seconds since 1970; years 1970 to 9999. */
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

const DAY_MS = 86_400_000;

/** Whether a text is a day of the calendar. 31 February is not, although `Date.parse` reads it as a day in March. */
export function isDay(text: string): text is Day {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && toDay(new Date(time).toISOString()) === text;
}

export function addDays(day: Day, days: number): Day {
  return toDay(new Date(Date.parse(day) + days * DAY_MS).toISOString());
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
