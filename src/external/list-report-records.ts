import type { KeptRecord } from '../domain/reports/record-text.ts';
import { findContent, unpackContent } from '../domain/reports/report-content.ts';
import type { ToRecords } from '../store/feed/feed.ts';
import type { Page } from '../store/lists/page.ts';
import {
  findReport,
  NO_SUCH_REPORT,
  type ReportOfAccount,
  reportVersion,
} from '../store/reports/report-of-account.ts';
import type { Handler } from './operation.ts';

export const listReportRecords = (({ accountId, path, query: page }) => {
  const scope = { accountId, domainId: path.domain_id, reportId: path.report_id };
  return {
    missing: NO_SUCH_REPORT,
    findVersion: async (reader) => (await reader.readFirst(reportVersion(scope)))[0]?.version,
    read: async (reader) => toPage(await findReport(reader, scope), page),
  };
}) satisfies Handler<'listReportRecords'>;

/** A report's records are stored as one value, so a page of a large report costs as much as all of it. */
function toPage({ version, content, revision }: ReportOfAccount, { offset, limit }: Page) {
  const { records } = unpackContent(content);
  const data = records.slice(offset, offset + limit).map(toListed);
  return { version, body: { data, total: records.length, revision } };
}

/** A content that is damaged has none: what comes after its report must reach the client. */
export const toRecords: ToRecords = (content, maxBytes) => {
  const { records = [] } = findContent(content) ?? {};
  const texts: string[] = [];
  let room = maxBytes;
  for (const record of records) {
    const text = JSON.stringify(toListed(record));
    room -= Buffer.byteLength(text) + 1;
    if (room < 0) break;
    texts.push(text);
  }
  return { texts, kept: records.length };
};

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
