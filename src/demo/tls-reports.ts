import { gzipSync } from 'node:zlib';
import { secondsToInstant } from '../domain/instant.ts';
import type { TlsCheck } from '../domain/tls/tls-check.ts';
import { type DemoReporter, REPORTERS } from './traffic.ts';

/* TLS reports about two of the demo's domains, of the last thirty days: most domains get few. */

const TLS_DAYS = 30;

interface DemoTls {
  readonly mode: 'enforce' | 'testing';
  readonly mx: readonly string[];
  readonly sessionsPerDay: number;
  /** A host whose certificate expired so many days ago. Few senders try it: too few for an alert. */
  readonly expired?: { readonly host: string; readonly daysAgo: number };
}

const DOMAINS: Readonly<Record<string, DemoTls>> = {
  'example.com': {
    ...{ mode: 'testing', sessionsPerDay: 90 },
    mx: ['mx1.example.com', 'mx2.example.com'],
  },
  'shop.example': {
    ...{ mode: 'enforce', sessionsPerDay: 60, mx: ['mx1.shop.example', 'mx2.shop.example'] },
    expired: { host: 'mx2.shop.example', daysAgo: 6 },
  },
};

/** The first two reporters send them. */
/** What checks have found of them, without a fault; undefined for the other domains. */
export function toTlsCheck(domain: string): TlsCheck | undefined {
  const tls = DOMAINS[domain];
  if (tls === undefined) return undefined;
  const policy = { mode: tls.mode, mx: tls.mx, maxAge: 604_800 };
  return {
    record: { value: 'v=TLSRPTv1; rua=mailto:reports@reports.example', findings: [] },
    sts: { id: '20260301T000000', recordFindings: [], policy, fileFindings: [] },
  };
}

export function toTlsFiles(domain: string, { day, daysAgo }: { day: Date; daysAgo: number }) {
  const tls = DOMAINS[domain];
  if (tls === undefined || daysAgo > TLS_DAYS) return [];
  return REPORTERS.slice(0, 2).map((reporter) => toFile(domain, reporter, { day, daysAgo, tls }));
}

function toFile(
  name: string,
  { org, domain, share }: DemoReporter,
  { day, daysAgo, tls }: { day: Date; daysAgo: number; tls: DemoTls },
) {
  const begin = day.getTime() / 1000;
  const end = begin + 86_399;
  const { expired } = tls;
  const failed = expired !== undefined && daysAgo <= expired.daysAgo ? 1 : 0;
  const policy = ['version: STSv1', `mode: ${tls.mode}`, ...tls.mx.map((host) => `mx: ${host}`)];
  const failure = {
    ...{ 'result-type': 'certificate-expired', 'failed-session-count': failed },
    'receiving-mx-hostname': expired?.host,
  };
  const report = {
    'organization-name': org,
    'contact-info': `tls-reports@${domain}`,
    'report-id': `${begin}.tls.${name}@${domain}`,
    'date-range': {
      'start-datetime': secondsToInstant(begin),
      'end-datetime': secondsToInstant(end),
    },
    policies: [
      {
        policy: {
          ...{ 'policy-type': 'sts', 'policy-domain': name, 'mx-host': tls.mx },
          'policy-string': [...policy, 'max_age: 604800'],
        },
        summary: {
          'total-successful-session-count': Math.round(tls.sessionsPerDay * share) - failed,
          'total-failure-session-count': failed,
        },
        'failure-details': failed === 0 ? [] : [failure],
      },
    ],
  };
  const bytes = gzipSync(JSON.stringify(report));
  return { name: `${domain}!${name}!${begin}!${end}!tls.json.gz`, bytes };
}
