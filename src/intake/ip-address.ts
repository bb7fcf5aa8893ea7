import { isIPv4, isIPv6, SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(?=\d+\.)/;

/**
 * An address in its one canonical text: RFC 5952 for IPv6, and dotted IPv4 for an IPv4-mapped
 * address, because mail over IPv4 looks like that to a dual-stack reporter and is no second source.
 * undefined when the text is no address; one with a zone has no meaning outside its own host.
 */
export function parseIpAddress(text: string): string | undefined {
  // node takes no leading zeros in IPv4, so that what it takes is canonical.
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return new SocketAddress({ address: text, family: 'ipv6' }).address.replace(MAPPED, '');
}
