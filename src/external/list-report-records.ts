import type { KeptRecord } from '../domain/reports/record-text.ts';
import { unpackContent } from '../domain/reports/report-content.ts';
import type { Page } from '../store/lists/page.ts';
import {
  findReport,
  NO_SUCH_REPORT,
  type ReportOfAccount,
  reportVersion,
} from '../store/reports/report-of-account.ts';
import type { ComputedPage, Handler } from './operation.ts';

type ListedRecord = ReturnType<typeof toListed>;

export const listReportRecords = (({ accountId, path, query: page }) => {
  const scope = { accountId, domainId: path.domain_id, reportId: path.report_id };
  return {
    list: {
      missing: NO_SUCH_REPORT,
      findVersion: async (reader) => (await reader.readAll(reportVersion(scope)))[0]?.version,
      readPage: async (reader, page): Promise<ComputedPage<ListedRecord>> =>
        toPage(await findReport(reader, scope), page),
    },
    page,
  };
}) satisfies Handler<'listReportRecords'>;

/** A report's records are stored as one value, so a page of a large report costs as much as all of it. */
function toPage(report: ReportOfAccount, { offset, limit }: Page): ComputedPage<ListedRecord> {
  const { records } = unpackContent(report.content);
  const items = records.slice(offset, offset + limit).map(toListed);
  return { version: report.version, items, total: records.length };
}

function toListed({ sourceIp, count, omitted, ...record }: KeptRecord) {
  const { identifiers, authResults } = record;
  return {
    source_ip: sourceIp,
    count,
    policy_evaluated: record.policyEvaluated,
    identifiers: {
      header_from: identifiers.headerFrom,
      envelope_from: identifiers.envelopeFrom,
      envelope_to: identifiers.envelopeTo,
    },
    auth_results: { dkim: authResults.dkim.map(toResult), spf: authResults.spf.map(toResult) },
    omitted,
  };
}

const toResult = <R extends { humanResult: string | null }>({ humanResult, ...result }: R) => ({
  ...result,
  human_result: humanResult,
});
