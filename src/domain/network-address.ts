import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseIpAddress } from './ip-address.ts';

/** Forms in `X-Forwarded-For` besides a bare address: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^[\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/;
/** An IPv4 address in IPv6 form, as a socket that listens on both reports it. */
const MAPPED = /^::ffff:/i;

/** The address without port, brackets and zone; a mapped IPv4 address in IPv4 form. undefined for text that is none. */
export function parseAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text;
  const [, bracketed, plain] = isIP(text) === 0 ? (WITH_PORT.exec(text) ?? []) : [];
  const address = (bracketed ?? plain ?? text).split('%', 1)[0] ?? '';
  if (isIP(address) === 0 || (bracketed !== undefined && isIP(address) !== 6)) return undefined;
  return MAPPED.test(address) ? parseIpAddress(address) : address;
}

/** The smallest network that is given to a site, whose addresses one client may have: /24 of IPv4, /48 of IPv6. */
export function toSiteNetwork(address: string): string {
  if (isIP(address) === 4) return address.slice(0, address.lastIndexOf('.'));
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 3);
  return `${groups.map((group) => group.toString(16)).join(':')}::/48`;
}

/** Tells whether an address is one of these, or in a network like `10.0.0.0/8`. */
export function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, toFamily(address));
    else list.addSubnet(address, Number(bits), toFamily(address));
  }
  return (address) => isIP(address) !== 0 && list.check(address, toFamily(address));
}

/** Tells whether an address is this one, or in this network; undefined for a text that is neither. */
export function parseNetwork(text: string): ((address: string) => boolean) | undefined {
  const [address = '', bits = '0', ...more] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isValid = /^\d{1,3}$/.test(bits) && Number(bits) <= max && more.length === 0;
  if (!isValid || address.includes('%')) return undefined;
  const isIn = createNetworks([text]);
  // To BlockList, ::/0 has each IPv4 address, too.
  return (other) => isIP(other) === isIP(address) && isIn(other);
}

const toFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
