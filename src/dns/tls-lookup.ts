import { checkStsPolicy } from '../domain/dns/sts-policy.ts';
import { type TlsFinding, toTlsFindings } from '../domain/dns/tls-findings.ts';
import { checkStsRecord, checkTlsRecord } from '../domain/dns/tls-records.ts';
import { type FetchDeps, fetchPolicyFile } from './policy-file.ts';
import { askInTime, createHostLookUp, type Dns } from './resolver.ts';

const DEADLINE_MS = 10_000;

interface Asked {
  readonly domain: string;
  /** Those at which we take reports. */
  readonly addresses: readonly string[];
  readonly fetchesPolicy: boolean;
}

/** Asks DNS, and the host of its policy file, what senders see of a domain's TLS reports and MTA-STS (RFC 8460, RFC 8461). */
export async function checkTls(
  servers: readonly string[],
  { domain, addresses, fetchesPolicy }: Asked,
  fetching: Omit<FetchDeps, 'lookUp'> = {},
): Promise<readonly TlsFinding[]> {
  const facts = await askInTime(servers, DEADLINE_MS, (dns) => findTexts(dns, domain));
  const asked = { domain, address: addresses[0] ?? '' };
  const { texts, old, sts, exchangers } = facts;
  const record =
    texts === undefined ? ['no_answer' as const] : checkTlsRecord(texts, addresses, old);
  const stsRecord = sts === undefined ? ['no_answer' as const] : checkStsRecord(sts);
  const ofRecord = toTlsFindings('tls_record', record, asked);
  // Most domains have no MTA-STS, which is no fault.
  if (stsRecord[0] === 'missing') return ofRecord;
  const lookUp = createHostLookUp(servers);
  const fetched = fetchesPolicy && sts !== undefined;
  const file = fetched && (await fetchPolicyFile(domain, { ...fetching, lookUp }));
  const ofFile = file ? [...file.findings, ...toPolicyFindings(file.text, exchangers)] : [];
  return [
    ...ofRecord,
    ...toTlsFindings('sts_record', stsRecord, asked),
    ...toTlsFindings('policy_file', ofFile, asked),
  ];
}

/** No text: what was wrong has been said. */
const toPolicyFindings = (text: string | undefined, exchangers: readonly string[] | undefined) =>
  text === undefined ? [] : checkStsPolicy(text, exchangers);

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
