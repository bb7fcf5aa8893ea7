import { hashTls } from '../../src/domain/reports/report-identity.ts';
import { packTls } from '../../src/domain/reports/tls-content.ts';
import { listPolicies } from '../../src/domain/reports/tls-policies.ts';
import {
  sumSessions,
  type TlsFailure,
  type TlsPolicy,
  type TlsReport,
} from '../../src/domain/reports/tls-report.ts';

/** A TLS report as it is stored, whose sessions all had TLS as asked unless it has other policies. */
export function aReadTlsReport({
  domain = 'example.com',
  reportId = 'one',
  begin = '2026-03-10T00:00:00Z',
  orgName = 'Example' as string | null,
  email = 'tls@reporter.example' as string | null,
  successes = 12,
  policies = [aReadPolicy({ domain, successes })] as readonly TlsPolicy[],
} = {}): TlsReport {
  const seconds = Date.parse(begin) / 1000;
  const window = { begin: seconds, end: seconds + 86_399 };
  const metadata = { orgName, email, reportId, ...window };
  const payloadSha256 = hashTls({ domain, metadata }, policies);
  const sums = { sessions: sumSessions(policies), policies: listPolicies(policies) };
  const read = { ...sums, content: packTls(policies), payloadSha256 };
  return { domain, metadata, warnings: [], ...read };
}

/** A policy of a report as it is stored. */
export const aReadPolicy = (changes: Partial<TlsPolicy> = {}): TlsPolicy => ({
  ...{ type: 'sts', domain: 'example.com', mode: 'testing', mxHosts: [] },
  ...{ successes: 12, failures: 0, details: [], ...changes },
});

/** A failure of a policy as it is stored. */
export const aReadFailure = (changes: Partial<TlsFailure> = {}): TlsFailure => ({
  ...{ resultType: 'certificate-expired', sessions: 1, sendingIp: null },
  ...{ mxHost: 'mx.example.com', mxHelo: null, receivingIp: null },
  ...{ reasonCode: null, information: null, ...changes },
});

/** A TLS report in JSON (RFC 8460), with some members changed. */
export function aTlsReport(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ...REPORT, ...changes });
}

/** One of its policies, with some members changed. */
export function aPolicy(changes: Readonly<Record<string, unknown>> = {}) {
  return { ...POLICY, ...changes };
}

export const STS = {
  'policy-type': 'sts',
  'policy-domain': 'example.com',
  'policy-string': ['version: STSv1', 'mode: testing', 'mx: mx.example.com', 'max_age: 86400'],
  'mx-host': ['mx.example.com'],
};

export const SUMMARY = {
  'total-successful-session-count': 12,
  'total-failure-session-count': 1,
};

export const FAILURE = { 'result-type': 'certificate-expired', 'failed-session-count': 1 };

const POLICY = { policy: STS, summary: SUMMARY, 'failure-details': [FAILURE] };

const REPORT = {
  'organization-name': 'Example',
  'date-range': {
    'start-datetime': '2026-03-10T00:00:00Z',
    'end-datetime': '2026-03-10T23:59:59Z',
  },
  'contact-info': 'tls@reporter.example',
  'report-id': 'one',
  policies: [POLICY],
};
