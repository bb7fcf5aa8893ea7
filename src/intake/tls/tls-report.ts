import { parseDomainName } from '../../domain/domain-name.ts';
import { MAX_REPORT_MESSAGES } from '../../domain/reports/alignment.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { hashTls } from '../../domain/reports/report-identity.ts';
import { packTls } from '../../domain/reports/tls-content.ts';
import { listPolicies } from '../../domain/reports/tls-policies.ts';
import {
  sumSessions,
  type TlsMetadata,
  type TlsPolicy,
  type TlsReport,
} from '../../domain/reports/tls-report.ts';
import type { JsonObject } from '../document/json.ts';
import { MAX_FAILURES, MAX_POLICIES, MAX_REPORT_ID_CHARS } from '../limits.ts';
import { IS_EMAIL } from '../report/metadata.ts';
import { WarningLog } from '../warnings.ts';
import { toDateRange } from './dates.ts';
import { toInner, toPolicyType, toTlsPolicy } from './policy.ts';
import { member, toObjects, toText } from './values.ts';

export interface TlsOptions {
  readonly log: WarningLog;
  /** The time of receipt, in milliseconds. */
  readonly nowMs: number;
  /** Whose the report is by its mail or the name of its file. */
  readonly hint?: string | undefined;
}

/** The reports in a JSON object (RFC 8460), one for each domain that its policies are of. Throws a Refusal. */
export function toTlsReports(object: JsonObject, options: TlsOptions): TlsReport[] {
  const log = new WarningLog(options.log);
  const metadata = toMetadata(object, { ...options, log });
  const entries = toObjects(member(object, 'policies'), log);
  if (entries.length === 0) log.add('no_policies');
  if (entries.length > MAX_POLICIES) log.add('long_list');
  const stated = entries.slice(0, MAX_POLICIES).map((entry) => {
    const domain = parseDomainName(toText(member(toInner(entry), 'policy-domain'), log) ?? '', 1);
    return { entry, domain, type: toPolicyType(entry, log) };
  });
  const hint = parseDomainName(options.hint ?? '');
  const domains = toDomains(stated, hint);
  const isDifferent = hint !== undefined && !domains.has(hint);
  if (isDifferent) log.add('domain_differs');
  const [first = ''] = domains;
  const rest = hint === undefined || isDifferent ? first : hint;
  const ownerOf = ({ domain }: Stated) =>
    domain !== undefined && domains.has(domain) ? domain : rest;
  return [...domains].map((domain) =>
    toReport(domain, { metadata, stated: stated.filter((one) => ownerOf(one) === domain), log }),
  );
}

interface Stated {
  readonly entry: JsonObject;
  /** undefined when there is none. */
  readonly domain: string | undefined;
  readonly type: string | null;
}

/** At least one. Throws `missing_domain`. */
function toDomains(stated: readonly Stated[], hint: string | undefined): ReadonlySet<string> {
  const named = stated.filter(({ domain }) => domain !== undefined);
  // A policy of DANE is named by the host of an MX.
  const recipients = named.filter(({ type }) => type !== 'tlsa');
  const found = recipients.length > 0 || hint !== undefined ? recipients : named;
  const domains = new Set(found.map(({ domain }) => domain as string));
  if (domains.size === 0 && hint !== undefined) domains.add(hint);
  if (domains.size > 0) return domains;
  throw new Refusal('missing_domain', 'The report does not say which domain it is about.');
}

interface Parts {
  readonly metadata: TlsMetadata;
  readonly stated: readonly Stated[];
  readonly log: WarningLog;
}

function toReport(domain: string, { metadata, stated, log: inherited }: Parts): TlsReport {
  const log = new WarningLog(inherited);
  const policies = stated.map(({ entry, domain = null, type }) => {
    if (domain === null) log.add('missing_policy_domain');
    return toTlsPolicy(entry, { domain, type }, log);
  });
  const sums = sumSessions(policies);
  const details = policies.flatMap((one) => one.details);
  const detailed = details.reduce((all, { sessions }) => all + sessions, 0);
  if (Math.max(sums.successes + sums.failures, detailed) > MAX_REPORT_MESSAGES) {
    const message = `The report counts more than ${MAX_REPORT_MESSAGES} sessions.`;
    throw new Refusal('count_too_large', message);
  }
  const kept = cut(policies, log);
  const sessions = { ...sums, details: details.length };
  const payloadSha256 = hashTls({ domain, metadata }, kept);
  const content = packTls(kept);
  const read = { sessions, policies: listPolicies(kept), content, payloadSha256 };
  return { domain, metadata, ...read, warnings: log.toList() };
}

/** Of more failures than are kept the largest are; the policies' sums are of all. */
function cut(policies: readonly TlsPolicy[], log: WarningLog): readonly TlsPolicy[] {
  const details = policies.flatMap((one) => one.details);
  if (details.length <= MAX_FAILURES) return policies;
  log.add('records_cut');
  const largest = details.toSorted((a, b) => b.sessions - a.sessions).slice(0, MAX_FAILURES);
  const kept = new Set(largest);
  return policies.map((one) => ({ ...one, details: one.details.filter((it) => kept.has(it)) }));
}

function toMetadata(object: JsonObject, options: Pick<TlsOptions, 'log' | 'nowMs'>): TlsMetadata {
  const { log } = options;
  const orgName = toText(member(object, 'organization-name'), log);
  if (orgName === null) log.add('missing_org_name');
  const contact = toText(member(object, 'contact-info'), log);
  const email = contact?.replace(/^mailto:/i, '').trim() || null;
  if (email === null) log.add('missing_email');
  else if (!IS_EMAIL.test(email)) log.add('invalid_email');
  const reportId = toReportId(object, log);
  return { orgName, email, reportId, ...toDateRange(object, options) };
}

function toReportId(object: JsonObject, log: WarningLog): string | null {
  const text = toText(member(object, 'report-id'), log, Number.POSITIVE_INFINITY);
  const id = text?.replace(/^<(.*)>$/s, '$1').trim() || null;
  if (id === null) log.add('missing_report_id');
  if ((id?.length ?? 0) <= MAX_REPORT_ID_CHARS) return id;
  const message = `The report id is longer than ${MAX_REPORT_ID_CHARS} characters.`;
  throw new Refusal('bad_field', message);
}
