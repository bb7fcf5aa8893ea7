import { toCut } from '../domain/incoming.ts';
import { findPolicies } from '../domain/reports/tls-content.ts';
import type {
  PolicyType,
  ResultType,
  TlsFailure,
  TlsPolicy,
} from '../domain/reports/tls-report.ts';
import type { Page } from '../store/lists/page.ts';
import {
  findReport,
  NO_SUCH_REPORT,
  type ReportOfAccount,
  tlsReportVersion,
} from '../store/reports/report-of-account.ts';
import { type TlsFilter, tlsReportsOf } from '../store/reports/tls-reports.ts';
import { toDays } from './filters.ts';
import type { Handler } from './operation.ts';

export const listTlsReports = (({ accountId, path, query }) => {
  const { received_after: cursor, from, until, reporter, failing, ...page } = query;
  const filter: TlsFilter = { ...toDays(from, until), reporter, failing };
  const list = tlsReportsOf({ accountId, domainId: path.domain_id }, filter);
  if (cursor === undefined) return { list, page };
  return { list: { followed: list, parameter: 'received_after', cursor }, page };
}) satisfies Handler<'listTlsReports'>;

export const listTlsReportFailures = (({ accountId, path, query: page }) => {
  const { domain_id: domainId, tls_report_id: reportId } = path;
  const scope = { accountId, domainId, reportId };
  return {
    missing: NO_SUCH_REPORT,
    findVersion: async (reader) => (await reader.readFirst(tlsReportVersion(scope)))[0]?.version,
    read: async (reader) => toPage(await findReport(reader, scope, 'tls'), page),
  };
}) satisfies Handler<'listTlsReportFailures'>;

/** A report's policies are stored as one value. A content that is damaged has none. */
function toPage({ version, content, revision }: ReportOfAccount, { offset, limit }: Page) {
  const failures = (findPolicies(content) ?? []).flatMap((policy) =>
    policy.details.map((failure) => ({ policy, failure })),
  );
  const sorted = failures.toSorted((a, b) => b.failure.sessions - a.failure.sessions);
  const data = sorted.slice(offset, offset + limit).map(toListed);
  return { version, body: { data, total: failures.length, revision } };
}

/** Characters of a name, and of a text. */
const [NAME, TEXT] = [255, 1_000];

const cut = (text: string | null, chars: number) => text && toCut(text, chars);

function toListed({ policy, failure }: { policy: TlsPolicy; failure: TlsFailure }) {
  return {
    policy_type: cut(policy.type, NAME) as PolicyType | null,
    policy_domain: cut(policy.domain, NAME),
    result_type: toCut(failure.resultType, NAME) as ResultType | 'unknown',
    failed_sessions: failure.sessions,
    sending_ip: failure.sendingIp,
    mx_host: cut(failure.mxHost, NAME),
    mx_helo: cut(failure.mxHelo, NAME),
    receiving_ip: failure.receivingIp,
    reason_code: cut(failure.reasonCode, TEXT),
    information: cut(failure.information, TEXT),
  };
}
