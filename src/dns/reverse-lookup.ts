import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Answer } from '../domain/dns/report-route.ts';
import { parseDomainName } from '../domain/domain-name.ts';
import { toHex } from '../domain/hex.ts';
import { parseIpAddress } from '../domain/ip-address.ts';
import { askInTime, type Dns } from './resolver.ts';

/** The name of an address; null when it has none that leads back to it; undefined when no server answered in time. */
export type LookUpName = (address: string) => Promise<Answer<string>>;

/** All queries about one address may take so long. */
const DEADLINE_MS = 10_000;
/** Names of one address that are tried: anybody can publish thousands for an address of theirs. */
const MAX_NAMES = 5;

/** Forward-confirmed reverse DNS (RFC 8601, 2.7.3): whoever has an address can publish any name for it. */
export function createNameLookUp(servers: readonly string[], deadlineMs: number = DEADLINE_MS) {
  return (address: string) => askInTime(servers, deadlineMs, (dns) => findName(dns, address));
}

async function findName(dns: Dns, address: string): Promise<Answer<string>> {
  const pointers = await dns.findPointers(toPointerName(address));
  if (pointers === undefined) return undefined;
  const names = (pointers ?? []).flatMap((text) => parseDomainName(text) ?? []);
  let isSure = true;
  for (const name of names.sort().slice(0, MAX_NAMES)) {
    const addresses = await dns.findAddresses(name, isIPv4(address) ? 4 : 6);
    if (addresses?.some((one) => parseIpAddress(one) === address)) return name;
    isSure &&= addresses !== undefined;
  }
  return isSure ? null : undefined;
}

/** The name at which the names of an address are published (RFC 1035, 3.5; RFC 3596, 2.5). */
function toPointerName(address: string): string {
  const bytes = ipaddr.parse(address).toByteArray();
  if (isIPv4(address)) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  return `${[...toHex(Buffer.from(bytes))].reverse().join('.')}.ip6.arpa`;
}
