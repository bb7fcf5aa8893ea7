import type { ReportMetadata } from '../../domain/reports/aggregate-report.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Element } from '../document/element.ts';
import { MAX_BEGIN_AHEAD_MS, MAX_ERRORS_CHARS, MAX_REPORT_ID_CHARS } from '../limits.ts';
import { renderLocation } from '../warnings.ts';

const IS_EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
/** 126.com, 163.com and yeah.net write `1337270400.0`. */
const SECONDS = /^(\d{1,20})(?:\.\d*)?$/;
/** Seconds reach this value in the year 5138; milliseconds did in 1973. */
const FIRST_MILLISECONDS = 1e11;
const DAY_SECONDS = 24 * 60 * 60;
/** DMARC was first published in January 2012. */
const FIRST_REPORTS = Date.UTC(2012, 0, 1) / 1000;

/** `report_metadata`. Throws when the time is missing or too far in the future, and when the id is too long. */
export function toMetadata(metadata: Element, nowMs: number): ReportMetadata {
  return {
    orgName: toOrgName(metadata),
    email: toEmail(metadata),
    extraContactInfo: metadata.value('extra_contact_info'),
    reportId: toReportId(metadata),
    ...toDateRange(metadata, nowMs),
    errors: toErrors(metadata),
    generator: metadata.value('generator'),
  };
}

function toDateRange(metadata: Element, nowMs: number) {
  const range = findDateRange(metadata);
  const begin = toSeconds(range, 'begin');
  const end = toSeconds(range, 'end');
  if (begin * 1000 > nowMs + MAX_BEGIN_AHEAD_MS) throw windowInFuture(range);
  if (begin > end) range.warn('reversed_dates');
  if (end - begin > DAY_SECONDS) range.warn('long_window');
  if (begin < FIRST_REPORTS) range.warn('early_begin');
  if (begin * 1000 > nowMs) range.warn('future_begin');
  return { begin, end };
}

/** A report that begins in the year 5138 would always be the first in every list. */
function windowInFuture(range: Element): Refusal {
  const message = 'The report begins more than 2 days after it was received.';
  return new Refusal('window_in_future', message, renderLocation(range.child('begin')));
}

function findDateRange(metadata: Element): Element {
  // KDDI writes `data_range`.
  const misspelt = metadata.child('data_range');
  if (misspelt.isAbsent || metadata.all('date_range').length > 0)
    return metadata.child('date_range');
  misspelt.warn('misspelt_date_range');
  return misspelt;
}

function toSeconds(range: Element, name: 'begin' | 'end'): number {
  const digits = SECONDS.exec(range.value(name) ?? '')?.[1];
  const number = Number(digits);
  const isMilliseconds = number >= FIRST_MILLISECONDS;
  const seconds = isMilliseconds ? Math.trunc(number / 1000) : number;
  if (digits === undefined || seconds >= FIRST_MILLISECONDS) throw missingDates(range, name);
  if (isMilliseconds) range.child(name).warn('millisecond_dates');
  return seconds;
}

function missingDates(range: Element, name: string): Refusal {
  const message = `The report does not say when it ${name}s.`;
  return new Refusal('missing_dates', message, renderLocation(range.child(name)));
}

function toOrgName(metadata: Element): string | null {
  const name = metadata.value('org_name');
  if (name === null) metadata.warn('missing_org_name');
  return name;
}

function toEmail(metadata: Element): string | null {
  const email = metadata.value('email');
  if (email === null) metadata.warn('missing_email');
  else if (!IS_EMAIL.test(email)) metadata.child('email').warn('invalid_email');
  return email;
}

function toReportId(metadata: Element): string | null {
  const id = metadata.value('report_id');
  if (id === null) metadata.warn('missing_report_id');
  if ((id?.length ?? 0) <= MAX_REPORT_ID_CHARS) return id;
  const message = `The report id is longer than ${MAX_REPORT_ID_CHARS} characters.`;
  throw new Refusal('bad_field', message, renderLocation(metadata.child('report_id')));
}

function toErrors(metadata: Element): string[] {
  const errors: string[] = [];
  let room = MAX_ERRORS_CHARS;
  for (const element of metadata.all('error')) {
    const error = element.ownValue();
    room -= error?.length ?? 0;
    if (room < 0) {
      element.warn('long_list');
      break;
    }
    if (error !== null) errors.push(error);
  }
  return errors;
}
