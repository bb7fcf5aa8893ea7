import { isIPv4, isIPv6, SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(?=\d+\.)/;

/**
 * The canonical text: RFC 5952 for IPv6; dotted IPv4 for an IPv4-mapped address, as dual-stack reporters see mail
 * over IPv4. undefined for other text, and with a zone, which has no meaning outside its own host.
 */
export function parseIpAddress(text: string): string | undefined {
  // node accepts no leading zeros in IPv4, so an accepted text is canonical.
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return new SocketAddress({ address: text, family: 'ipv6' }).address.replace(MAPPED, '');
}
