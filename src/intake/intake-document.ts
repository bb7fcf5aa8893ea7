import type { AggregateReport } from '../domain/reports/aggregate-report.ts';
import type { Refusal } from '../domain/reports/refusal.ts';
import type { RequestedContent } from './report/requested.ts';

export type IntakeDocument = {
  /** For display only: members, outermost first (`['report.xml.gz']`); empty when the input is the document. */
  readonly member: readonly string[];
} & (
  | {
      readonly kind: 'report';
      readonly report: AggregateReport;
      /** Of the report that was requested. */
      readonly requested?: RequestedContent;
    }
  /** A report that cannot be read, or an input without one. */
  | { readonly kind: 'rejected'; readonly refusal: Refusal }
  /** Something beside a report that is clearly not a report. */
  | { readonly kind: 'ignored'; readonly refusal: Refusal }
);
