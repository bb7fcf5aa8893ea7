import { checkStsPolicy, parseStsPolicy } from '../domain/dns/sts-policy.ts';
import {
  checkStsRecord,
  checkTlsRecord,
  findStsId,
  findTlsRecord,
} from '../domain/dns/tls-records.ts';
import type { LookedTls } from '../domain/tls/tls-check.ts';
import type { FetchDeps } from './policy-file.ts';
import { askInTime, createHostLookUp, type Dns } from './resolver.ts';

const DEADLINE_MS = 10_000;
/** DNS can hold any text, and a file of 64 KiB thousands of hosts. */
const [MAX_CHARACTERS, MAX_HOSTS] = [1_000, 100];

export interface AskedTls {
  readonly domain: string;
  /** Those at which we take reports. */
  readonly addresses: readonly string[];
  readonly fetchesPolicy: boolean;
}

/** Asks DNS, and the host of its policy file, what senders see of a domain's TLS reports and MTA-STS (RFC 8460, RFC 8461). */
export async function checkTls(
  servers: readonly string[],
  { domain, addresses, fetchesPolicy }: AskedTls,
  fetching: Omit<FetchDeps, 'lookUp'> = {},
): Promise<LookedTls> {
  const facts = await askInTime(servers, DEADLINE_MS, (dns) => findTexts(dns, domain));
  const { texts, old, sts, exchangers } = facts;
  const record = texts && {
    value: findTlsRecord(texts)?.slice(0, MAX_CHARACTERS) ?? null,
    findings: checkTlsRecord(texts, addresses, old),
  };
  if (sts === undefined) return { record, sts };
  const recordFindings = checkStsRecord(sts);
  // Most domains have no MTA-STS, which is no fault.
  if (recordFindings === 'missing') return { record, sts: null };
  const found = { id: findStsId(sts), recordFindings, policy: null, fileFindings: [] };
  if (!fetchesPolicy) return { record, sts: found };
  const lookUp = createHostLookUp(servers);
  const { fetchPolicyFile } = await import('./policy-file.ts');
  const { text, findings } = await fetchPolicyFile(domain, { ...fetching, lookUp });
  // Without a text, what was wrong has been said.
  if (text === undefined) return { record, sts: { ...found, fileFindings: findings } };
  const fileFindings = [...findings, ...checkStsPolicy(text, exchangers)];
  const read = parseStsPolicy(text);
  const policy = read === undefined ? null : { ...read, mx: read.mx.slice(0, MAX_HOSTS) };
  return { record, sts: { ...found, policy, fileFindings } };
}

async function findTexts(dns: Dns, domain: string) {
  const names = [`_smtp._tls.${domain}`, `_smtp-tlsrpt.${domain}`, `_mta-sts.${domain}`];
  const [texts, old, sts] = await Promise.all(names.map(dns.findTexts));
  const found = await dns.findExchangers(domain);
  // Mail to a domain without MX records goes to the domain itself (RFC 5321, 5.1).
  const exchangers = found === null ? [domain] : found;
  return {
    texts: texts === null ? [] : texts,
    old: old ?? [],
    sts: sts === null ? [] : sts,
    exchangers,
  };
}
