import { Failure } from '../domain/failure.ts';
import { addDays, countDays, type Day, type DayRange, isDay } from '../domain/instant.ts';

const DAYS = 30;
const MAX_DAYS = 366;

/** The days that parameters name, both included. Throws `validation_error`. */
export function toRange(
  { from, until }: { readonly from?: string | undefined; readonly until?: string | undefined },
  today: Day,
): DayRange {
  const to = until ?? today;
  if (!isDay(to)) throw toInvalid('"until" must be a day from 1970-01-01 on.');
  const range = { from: from ?? addDays(to, 1 - DAYS), to };
  const days = countDays(range);
  if (days >= 1 && days <= MAX_DAYS) return range;
  throw toInvalid(`"from" to "until" must be 1 to ${MAX_DAYS} days, both included.`);
}

const toInvalid = (message: string) => new Failure('validation_error', message);
