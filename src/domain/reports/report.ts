import type { AggregateReport } from './aggregate-report.ts';
import type { TlsReport } from './tls-report.ts';

/** What comes in at every door and is stored: of either kind. */
export type Report = AggregateReport | TlsReport;

export const isTls = (report: Report): report is TlsReport => 'sessions' in report;

/** The domain whose report it is. */
export const domainOf = (report: Report): string =>
  isTls(report) ? report.domain : report.policyPublished.domain;
