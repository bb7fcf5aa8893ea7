import type { RefusalReason } from '../../domain/reports/refusal.ts';

/** The reasons of rejections, in a few words for a table. JSON and options have the codes. */
const WORDS: Readonly<Record<RefusalReason, string>> = {
  empty: 'empty',
  no_report: 'no report in it',
  not_aggregate: 'not an aggregate report',
  bad_archive: 'damaged archive',
  too_deep: 'too many containers',
  too_large: 'too large',
  bad_xml: 'broken XML',
  doctype_forbidden: 'has a DOCTYPE',
  missing_dates: 'no dates',
  missing_domain: 'no domain',
  bad_field: 'a value is not valid',
  count_too_large: 'too many messages',
  window_in_future: 'from the future',
  too_costly: 'takes too long to read',
  reader_failed: 'the reader failed',
  unreadable: 'not readable',
};

export const REASONS = Object.keys(WORDS) as readonly RefusalReason[];

/** A database can have reasons of older versions: they stay codes. */
export function toReasonWords(reason: string): string {
  return (WORDS as Readonly<Record<string, string>>)[reason] ?? reason;
}
