import { LRUCache } from 'lru-cache';
import type { GroupName } from '../domain/sources/groups.ts';

/** Who sent, by the evidence of some mail. */
export interface Senders {
  /** Groups addresses by the service that evidence names, else by their network; others are groups of their own. */
  readonly toGroup: (address: string) => GroupName;
  /** What is known of an address, a line each, in small letters. */
  readonly toSearched: (address: string) => string;
}

/** Of a domain's newest days, while neither its reports nor its marks change. */
interface Loaded {
  readonly state: string;
  /** What reporters said of the addresses that were asked for. */
  readonly patterns: Map<string, ReadonlyMap<string, number>>;
  readonly senders: Senders;
}

/** Of lists that were looked at lately: some 2 MB each. Names in DNS and networks can be so much older. */
export type KeptSenders = LRUCache<string, Loaded>;
const KEPT = { max: 4, ttl: 60_000, ttlAutopurge: true };

export function createKeptSenders(): KeptSenders {
  return new LRUCache(KEPT);
}
