import { ipKeyGenerator } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { parseAddress } from './network-address.ts';

interface Caller {
  readonly peer: string;
  /** `X-Forwarded-For`: each proxy appends the address that it was called from. */
  readonly forwardedFor: string | undefined;
  readonly isTrusted: (address: string) => boolean;
}

/**
 * The address for limits, throttles and the audit. Reads `X-Forwarded-For` from its end, while a trusted proxy wrote
 * the entry. An entry that is no address stops it at the proxy: else each invalid text would have its own limit.
 */
export function toClientAddress({ peer, forwardedFor, isTrusted }: Caller): string {
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

/** A household or a small network has a /64, so a limit per single IPv6 address would have no effect. */
const IPV6_SUBNET = 64;

/** What limits count an address under: an IPv4 address, or the /64 network of an IPv6 address. */
export function toClientNetwork(address: string): string {
  return networks.memo(address);
}

/** Parsing an IPv6 address takes 9 µs, three times as long as reading a list's head. */
const networks = new LRUCache<string, string>({
  max: 1_000,
  memoMethod: (address) => ipKeyGenerator(address, IPV6_SUBNET),
});
