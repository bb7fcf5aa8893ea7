import { DAY_MS } from '../../domain/instant.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { checkWindow, FIRST_MILLISECONDS } from '../report/window.ts';
import type { WarningLog } from '../warnings.ts';
import { isObject, member, toText } from './values.ts';

const DATE =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?\s*([Zz]|[+-]\d\d:?\d\d)?)?$/;
const NUMBER = /^\d{1,20}(?:\.\d*)?$/;

/** `date-range`, in seconds. Throws when one is missing or too far in the future. */
export function toDateRange(
  report: JsonObject,
  { log, nowMs }: { log: WarningLog; nowMs: number },
) {
  const value = member(report, 'date-range');
  const range = isObject(value) ? value : {};
  const begin = toSeconds(member(range, 'start-datetime'), 'begin', log);
  const end = toSeconds(member(range, 'end-datetime'), 'end', log);
  for (const code of checkWindow({ begin, end }, { nowMs })) log.add(code);
  return { begin, end };
}

function toSeconds(value: Json | undefined, which: 'begin' | 'end', log: WarningLog): number {
  const text = toText(value, log) ?? '';
  const seconds = NUMBER.test(text) ? toNumber(text, log) : toTime(text, which, log);
  if (seconds >= 0 && seconds < FIRST_MILLISECONDS) return seconds;
  throw new Refusal('missing_dates', `The report does not say when it ${which}s.`);
}

function toNumber(text: string, log: WarningLog): number {
  log.add('numeric_date');
  const number = Number(text);
  return Math.trunc(number >= FIRST_MILLISECONDS ? number / 1000 : number);
}

/** NaN for what is no date. */
function toTime(text: string, which: 'begin' | 'end', log: WarningLog): number {
  const [, day, time, zone] = DATE.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day)
    return Number.NaN;
  if (time === undefined) {
    log.add('date_only');
    return (which === 'begin' ? midnight : midnight + DAY_MS) / 1000 - Number(which === 'end');
  }
  if (zone === undefined) log.add('date_without_zone');
  // A leap second is the last one of its minute here (RFC 3339, 5.6).
  const stated = `${day}T${time.replace(/:60$/, ':59')}${zone?.toUpperCase() ?? 'Z'}`;
  return Date.parse(stated.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) / 1000;
}
