import type { ReportMetadata, Warning } from './aggregate-report.ts';

/**
 * A report about the TLS of SMTP sessions (RFC 8460), about one recipient domain. null means that the reporter left the
 * value out or left it blank.
 */
export interface TlsReport {
  /** Lower-case A-label without a trailing dot. */
  readonly domain: string;
  readonly metadata: TlsMetadata;
  readonly sessions: TlsSessions;
  /** What lists show of its policies (tls-policies.ts). */
  readonly policies: readonly ListedPolicy[];
  /** Its policies, packed (tls-content.ts). */
  readonly content: Uint8Array;
  readonly warnings: readonly Warning[];
  /** A hash of what it says, not of its bytes. */
  readonly payloadSha256: string;
}

/** A session that two policies judged counts in both. */
export interface TlsSessions {
  readonly successes: number;
  readonly failures: number;
  /** How many entries say why sessions failed. */
  readonly details: number;
}

export type TlsMetadata = Pick<ReportMetadata, 'orgName' | 'email' | 'reportId' | 'begin' | 'end'>;

/** What of the domain a sender applied to its sessions. A session that two policies judged counts in both. */
export interface TlsPolicy {
  /** One of POLICY_TYPES, or another word as it was sent. */
  readonly type: string | null;
  /** Of DANE often the name of an MX host. */
  readonly domain: string | null;
  /** Of MTA-STS; null when the report does not say it. */
  readonly mode: TlsMode | null;
  readonly mxHosts: readonly string[];
  readonly successes: number;
  readonly failures: number;
  readonly details: readonly TlsFailure[];
}

/** A policy as lists show it, in the words of the API. */
export interface ListedPolicy {
  /** Or another word of at most 255 characters. */
  readonly policy_type: PolicyType | null;
  readonly policy_domain: string | null;
  readonly mode: TlsMode | null;
  readonly mx_hosts: readonly string[];
  readonly successful_sessions: number;
  readonly failed_sessions: number;
}

/** The details may exceed a policy's failed sessions, or fall short of them. */
export interface TlsFailure {
  /** One of RESULT_TYPES, `unknown`, or another word as it was sent. */
  readonly resultType: string;
  readonly sessions: number;
  readonly sendingIp: string | null;
  readonly mxHost: string | null;
  readonly mxHelo: string | null;
  readonly receivingIp: string | null;
  readonly reasonCode: string | null;
  readonly information: string | null;
}

/** RFC 8460, section 4.4. */
const POLICIES = ['sts', 'tlsa', 'no-policy-found'] as const;
export type PolicyType = (typeof POLICIES)[number];
export const POLICY_TYPES: ReadonlySet<string> = new Set(POLICIES);

const MODES = ['enforce', 'testing', 'none'] as const;
export type TlsMode = (typeof MODES)[number];

/** The mode in the lines of a policy of MTA-STS (RFC 8461, section 3.2). */
export function findMode(policyString: readonly string[]): TlsMode | null {
  const lines = policyString.flatMap((text) => text.split(/[\r\n]+/));
  const word = lines.map((line) => /^\s*mode\s*:\s*([a-z]+)\s*$/i.exec(line)?.[1]).find(Boolean);
  return MODES.find((mode) => mode === word?.toLowerCase()) ?? null;
}

/** RFC 8460, section 4.3. */
const RESULTS = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
] as const;
export type ResultType = (typeof RESULTS)[number];
export const RESULT_TYPES: ReadonlySet<string> = new Set(RESULTS);

/** The keys of which a report has two or three. Other JSON may have one of them. */
export const TLS_KEYS = [
  'organization-name',
  'date-range',
  'contact-info',
  'report-id',
  'policies',
] as const;

export function sumSessions(policies: readonly TlsPolicy[]): TlsSessions {
  const sum = (toCount: (one: TlsPolicy) => number) =>
    policies.reduce((all, one) => all + toCount(one), 0);
  return {
    successes: sum((one) => one.successes),
    failures: sum((one) => one.failures),
    details: sum((one) => one.details.length),
  };
}
