/** The reasons of rejections, as a table has them. JSON and options have the codes. */
export const REFUSAL_TEXTS = {
  empty: 'empty',
  no_report: 'no report in it',
  none_found: 'looks like a report, and none was found',
  not_aggregate: 'not an aggregate report',
  bad_archive: 'damaged archive',
  too_deep: 'too many containers',
  too_large: 'too large',
  bad_xml: 'broken XML',
  doctype_forbidden: 'has a DOCTYPE',
  bad_json: 'broken JSON',
  missing_dates: 'no dates',
  missing_domain: 'no domain',
  bad_field: 'a value is not valid',
  count_too_large: 'too many messages',
  window_in_future: 'from the future',
  too_old: 'older than reports are kept',
  too_costly: 'takes too long to read',
  reader_failed: 'the reader failed',
  unreadable: 'not readable',
} as const satisfies Record<string, string>;

export type RefusalReason = keyof typeof REFUSAL_TEXTS;

/** Reasons of what was not intended as a report. */
export const NOTHING: ReadonlySet<RefusalReason> = new Set(['empty', 'no_report', 'not_aggregate']);

/**
 * A document that cannot become a report. Unlike a `Failure`, it answers no request: it is stored with the original
 * bytes. `where` is a place in the document ("line 5, column 17", an element, a byte offset); null means all of it.
 */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  readonly where: string | null;

  constructor(reason: RefusalReason, message: string, where: string | null = null) {
    super(message);
    this.name = 'Refusal';
    this.reason = reason;
    this.where = where;
  }
}

/** The refusal of an input that was not read to its end, which is behind this many reports. */
export function toEnd(refusal: Refusal, reports: number): Refusal {
  if (reports === 0) return refusal;
  const { reason, message, where } = refusal;
  const read = `Stored reports before that point: ${reports}. Nothing behind it was read.`;
  return new Refusal(reason, `${message} ${read}`, where);
}
