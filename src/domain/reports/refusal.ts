export type RefusalReason =
  | 'empty'
  | 'no_report'
  | 'not_aggregate'
  | 'bad_archive'
  | 'too_deep'
  | 'too_large'
  | 'bad_xml'
  | 'doctype_forbidden'
  | 'missing_dates'
  | 'missing_domain'
  | 'bad_field'
  | 'count_too_large'
  | 'window_in_future'
  | 'too_old'
  | 'too_costly'
  | 'reader_failed'
  | 'unreadable';

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
