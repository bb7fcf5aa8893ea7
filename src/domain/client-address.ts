import { BlockList, isIP } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';

/** Forms in `X-Forwarded-For` besides a bare address: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^[\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/;
/** An IPv4 address in IPv6 form, as a socket that listens on both reports it. */
const MAPPED_DECIMAL = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i;

interface Sender {
  readonly peer: string;
  /** `X-Forwarded-For`: each proxy appends the address that it was called from. */
  readonly forwardedFor: string | undefined;
  readonly isTrusted: (address: string) => boolean;
}

/**
 * The address for limits, throttles and the audit. Reads `X-Forwarded-For` from its end, while a trusted proxy wrote
 * the entry. An entry that is no address stops it at the proxy: else each invalid text would have its own limit.
 */
export function toClientAddress({ peer, forwardedFor, isTrusted }: Sender): string {
  let address = parseAddress(peer) ?? peer;
  if (forwardedFor === undefined || !isTrusted(address)) return address;
  for (const item of forwardedFor.split(',').toReversed()) {
    const before = parseAddress(item.trim());
    if (before === undefined) return address;
    address = before;
    if (!isTrusted(address)) return address;
  }
  return address;
}

/** Without port, brackets and zone; a mapped IPv4 address in IPv4 form. undefined for text that is no address. */
export function parseAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text;
  const [, bracketed, plain] = isIP(text) === 0 ? (WITH_PORT.exec(text) ?? []) : [];
  const address = (bracketed ?? plain ?? text).split('%', 1)[0] ?? '';
  if (isIP(address) === 0 || (bracketed !== undefined && isIP(address) !== 6)) return undefined;
  return toIpv4(address) ?? address;
}

/** A household or a small network has a /64, so a limit per single IPv6 address would have no effect. */
const IPV6_SUBNET = 64;

/** What limits count an address under: an IPv4 address, or the /64 network of an IPv6 address. */
export function toClientNetwork(address: string): string {
  return ipKeyGenerator(address, IPV6_SUBNET);
}

/** The smallest networks that are given to a site: /24 of IPv4, /48 of IPv6. */
const IPV6_SITE = 48;

/** The network under which the addresses of one client count, which may have several. */
export function toSiteNetwork(address: string): string {
  return isIP(address) === 4
    ? address.slice(0, address.lastIndexOf('.'))
    : ipKeyGenerator(address, IPV6_SITE);
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

const toFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function toIpv4(address: string): string | undefined {
  const decimal = MAPPED_DECIMAL.exec(address)?.[1];
  if (decimal !== undefined) return decimal;
  const [, high, low] = MAPPED_HEX.exec(address) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
