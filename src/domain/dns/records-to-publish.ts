import { findTag, type RecordValue } from './dns-record.ts';
import { toHost } from './report-addresses.ts';

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

/** The whole record of a domain that has none: it asks for reports and changes nothing else. */
export const toFirstRecord = (address: string): string => `v=DMARC1; p=none; ${toRuaTag(address)}`;

/** The record of a domain that sends no mail. Reports go where the former record has them go. */
export function toRejectRecord(former: RecordValue, address: string | undefined): string {
  const rua = findTag(former, 'rua') ?? (address && `mailto:${address}`);
  return `v=DMARC1; p=reject; sp=reject${rua ? `; rua=${rua}` : ''}`;
}

export const toRuaTag = (address: string): string => `rua=mailto:${address}`;

/** Where the owner of a host says that it takes reports about a domain (RFC 9990). */
export const toAuthorisationName = (domain: string, host: string): string =>
  `${domain}._report._dmarc.${host}`;

export const AUTHORISATION = 'v=DMARC1;';
