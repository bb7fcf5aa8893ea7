import type { RecordValue } from './dns-record.ts';

/** `mailto:` addresses of a tag, each with an optional size limit (RFC 9990; RFC 7489, section 6.2). */
const MAILTO = /^mailto:([^!]+)(?:![0-9]+[kmgt]?)?$/i;
/** A record can name any number of addresses. */
const MAX_ADDRESSES = 50;

/** The normalized addresses that a DMARC record names for aggregate reports. Several records count as none. */
export function findReportAddresses(record: RecordValue): readonly string[] {
  if (record === null || record.includes('\n')) return [];
  const uris = (findRua(record) ?? '')
    .split(',', MAX_ADDRESSES)
    .map((uri) => MAILTO.exec(uri.trim())?.[1]);
  return uris.filter((address) => address !== undefined).map(normalizeAddress);
}

/** Whether a DMARC record has a tag for aggregate reports, whatever is in it. */
export function hasReportTag(record: string): boolean {
  return findRua(record) !== undefined;
}

function findRua(record: string): string | undefined {
  return record
    .split(';')
    .map((tag) => /^\s*rua\s*=(.*)$/is.exec(tag)?.[1])
    .find((value) => value !== undefined);
}

/** An address as addresses are compared here: decoded, in lower case. */
export function normalizeAddress(address: string): string {
  return decode(address.trim()).toLowerCase();
}

/** A URI may be percent-encoded; one that is not valid stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The domain of an address, without a dot at the end. */
export function toHost(address: string): string {
  return normalizeAddress(address)
    .slice(address.lastIndexOf('@') + 1)
    .replace(/\.$/, '');
}
