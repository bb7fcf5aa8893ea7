import { hash } from 'node:crypto';
import type { AggregateReport } from './aggregate-report.ts';
import type { RecordText } from './largest-records.ts';
import { domainOf, isTls, type Report } from './report.ts';
import { toPayload } from './tls-content.ts';
import type { TlsMetadata, TlsPolicy } from './tls-report.ts';

type Parsed = Pick<AggregateReport, 'metadata' | 'policyPublished' | 'tally'>;

/** Half of a SHA-256: that another report has the same takes 2^128 tries. All of it took 16 bytes more a report. */
const HASH_CHARS = 32;

/**
 * The hash of all that a report says but its id, however it is written. Of other records than the largest it has what they
 * add up to.
 */
export function hashPayload(
  { metadata, policyPublished, tally }: Parsed,
  largest: readonly RecordText[],
): string {
  const orgName = metadata.orgName?.toLowerCase() ?? null;
  const stated = [{ ...metadata, orgName, reportId: null }, policyPublished, tally];
  const payload = `${JSON.stringify(stated)}[${largest.map(({ text }) => text).join()}]`;
  return hash('sha256', payload, 'hex').slice(0, HASH_CHARS);
}

/** The same of a TLS report, with its id: many say the same of another day. */
export function hashTls(
  { domain, metadata }: { readonly domain: string; readonly metadata: TlsMetadata },
  policies: readonly TlsPolicy[],
): string {
  const { email, reportId, begin, end } = metadata;
  const stated = [domain, toReporter(metadata), email, reportId, begin, end, toPayload(policies)];
  return hash('sha256', JSON.stringify(stated), 'hex').slice(0, HASH_CHARS);
}

/** Who a TLS report is of: the organisation, or else the domain of its contact. */
const toReporter = ({ orgName, email }: Pick<TlsMetadata, 'orgName' | 'email'>): string | null =>
  (orgName ?? email?.slice(email.lastIndexOf('@') + 1))?.toLowerCase() ?? null;

/**
 * What makes two documents the same report: domain, lower-case org_name, report_id, begin and end. A report without a
 * report_id is the same only as one that says the same.
 */
function toReportIdentity(report: Report): string {
  const { metadata, payloadSha256 } = report;
  const reporter = isTls(report) ? toReporter(metadata) : metadata.orgName?.toLowerCase();
  const { reportId, begin, end } = metadata;
  const identity = [domainOf(report), reporter ?? null, reportId ?? { payloadSha256 }, begin, end];
  return JSON.stringify(isTls(report) ? ['tls', ...identity] : identity);
}

/**
 * The report's id: a UUID made from its identity by SHA-256 (RFC 9562, version 8). So one unique column holds
 * id and identity, and a report that is read again into another database keeps its id.
 */
export function toReportId(report: Report): string {
  const bytes = hash('sha256', toReportIdentity(report), 'buffer');
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
