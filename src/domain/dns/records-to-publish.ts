import { listTags, type RecordValue } from './dns-record.ts';
import { findReportAddresses, normalizeAddress, toHost } from './report-addresses.ts';

/** What has to be in DNS for reports about a domain to come, as a person publishes it. */
export interface RecordToPublish {
  readonly check: 'rua' | 'authorisation' | 'mx';
  readonly type: 'TXT' | 'MX';
  readonly name: string;
  /** The tag alone for `rua`: the other tags of the record are for the domain's owner to choose. */
  readonly value: string;
}

interface ReportDestination {
  readonly domain: string;
  readonly address: string;
  /** Whether the host of the address belongs to another owner than the domain. */
  readonly isOtherOwner: boolean;
  /** The name of our own mail server, when we have one. */
  readonly mailHost: string | undefined;
}

/** The records in the order in which a person sets them up. */
export function listRecordsToPublish({
  domain,
  address,
  isOtherOwner,
  mailHost,
}: ReportDestination): readonly RecordToPublish[] {
  const host = toHost(address);
  const records: RecordToPublish[] = [
    { check: 'rua', type: 'TXT', name: `_dmarc.${domain}`, value: toRuaTag(address) },
  ];
  if (isOtherOwner) {
    const name = toAuthorisationName(domain, host);
    records.push({ check: 'authorisation', type: 'TXT', name, value: AUTHORISATION });
  }
  // Where mail to another host goes is not known here.
  if (mailHost !== undefined)
    records.push({ check: 'mx', type: 'MX', name: host, value: `10 ${mailHost}` });
  return records;
}

/**
 * The record that a name has, with our address among those that reports go to, and with other policies where they are wanted:
 * nothing else changes, so that it is never weaker than what holds. Of several records, which count as none, none is kept.
 */
export function toProposedRecord(
  record: RecordValue,
  address: string | undefined,
  policy?: 'reject',
): string {
  const known = record === null || record.includes('\n') ? [] : listTags(record);
  const kept = known.filter(
    ([name]) => name !== 'v' && !(policy && ['p', 'sp', 'np', 'pct', 't'].includes(name)),
  );
  const hasPolicy = kept.some(([name]) => name === 'p');
  const own = policy ? `p=${policy}; sp=${policy}` : hasPolicy ? '' : 'p=none';
  const tags = kept.map(([name, text]) =>
    name === 'rua' ? `rua=${addAddress(text, address)}` : `${name}=${text}`,
  );
  const rua = kept.some(([name]) => name === 'rua') || !address ? [] : [toRuaTag(address)];
  return ['v=DMARC1', own, ...tags, ...rua].filter(Boolean).join('; ');
}

function addAddress(uris: string, address: string | undefined): string {
  const isNamed =
    !address || findReportAddresses(`v=DMARC1; rua=${uris}`).includes(normalizeAddress(address));
  return isNamed ? uris : [uris, `mailto:${address}`].filter(Boolean).join(',');
}

export const toRuaTag = (address: string): string => `rua=mailto:${address}`;

/** Where the owner of a host says that it takes reports about a domain (RFC 9990). */
export const toAuthorisationName = (domain: string, host: string): string =>
  `${domain}._report._dmarc.${host}`;

export const AUTHORISATION = 'v=DMARC1;';
