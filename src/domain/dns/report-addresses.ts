import { decodeUrlPart } from '../url-part.ts';
import { findTag, type RecordValue } from './dns-record.ts';

/** `mailto:` addresses of a tag, each with an optional size limit (RFC 9990; RFC 7489, section 6.2). */
const MAILTO = /^mailto:([^!]+)(?:![0-9]+[kmgt]?)?$/i;
/** A record can name any number of addresses. */
const MAX_ADDRESSES = 50;

/** The normalized addresses that a DMARC record names for aggregate reports. Several records count as none. */
export function findReportAddresses(record: RecordValue): readonly string[] {
  const uris = (findTag(record, 'rua') ?? '').split(',', MAX_ADDRESSES);
  const addresses = uris.map((uri) => MAILTO.exec(uri)?.[1]);
  return addresses.filter((address) => address !== undefined).map(normalizeAddress);
}

/** An address as addresses are compared here: in lower case and decoded, unless its percent-encoding is broken. */
export function normalizeAddress(address: string): string {
  const text = address.trim();
  return (decodeUrlPart(text) ?? text).toLowerCase();
}

/** The domain of an address, without a dot at the end. */
export function toHost(address: string): string {
  return normalizeAddress(address)
    .slice(address.lastIndexOf('@') + 1)
    .replace(/\.$/, '');
}
