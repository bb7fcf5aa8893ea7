import type { ReportMetadata } from '../../domain/reports/aggregate-report.ts';
import type { Element } from '../document/element.ts';
import { MAX_ERRORS_CHARS, MAX_REPORT_ID_CHARS } from '../limits.ts';
import { renderLocation } from '../warnings.ts';
import { checkWindow, FIRST_MILLISECONDS } from './window.ts';

export const IS_EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
/** 126.com, 163.com and yeah.net write `1337270400.0`. */
const SECONDS = /^(\d{1,20})(?:\.\d*)?$/;

/** `report_metadata`. Throws when the time is missing or too far in the future, and when the id is too long. */
export function toMetadata(metadata: Element, nowMs: number): ReportMetadata {
  return {
    orgName: toRequired(metadata, 'org_name'),
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
  const where = renderLocation(range.child('begin'));
  for (const code of checkWindow({ begin, end }, { nowMs, where })) range.warn(code);
  return { begin, end };
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
  if (digits === undefined || seconds >= FIRST_MILLISECONDS)
    throw range.child(name).refusal('missing_dates', `The report does not say when it ${name}s.`);
  if (isMilliseconds) range.child(name).warn('millisecond_dates');
  return seconds;
}

function toRequired(metadata: Element, name: 'org_name' | 'email' | 'report_id'): string | null {
  const text = metadata.value(name);
  if (text === null) metadata.warn(`missing_${name}`);
  return text;
}

function toEmail(metadata: Element): string | null {
  const email = toRequired(metadata, 'email');
  if (email !== null && !IS_EMAIL.test(email)) metadata.child('email').warn('invalid_email');
  return email;
}

function toReportId(metadata: Element): string | null {
  const id = toRequired(metadata, 'report_id');
  if ((id?.length ?? 0) <= MAX_REPORT_ID_CHARS) return id;
  const message = `The report id is longer than ${MAX_REPORT_ID_CHARS} characters.`;
  throw metadata.child('report_id').refusal('bad_field', message);
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
