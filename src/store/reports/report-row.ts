import { secondsToInstant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';

/** The columns of a report that come from its document. */
export function toContentRow(report: AggregateReport) {
  return {
    ...toReportFields(report),
    xml_namespace: report.xmlNamespace,
    version: report.version,
    warnings: JSON.stringify(report.warnings),
  };
}

export function toReportFields({ metadata, tally }: AggregateReport) {
  return {
    reporter_org: metadata.orgName,
    reporter_email: metadata.email,
    report_id: metadata.reportId,
    begin_date: secondsToInstant(metadata.begin),
    end_date: secondsToInstant(metadata.end),
    record_count: tally.recordCount,
    total_messages: tally.totalMessages,
    aligned_messages: tally.alignedMessages,
  };
}
