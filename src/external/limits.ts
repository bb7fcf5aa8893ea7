import type { Options, Store } from 'express-rate-limit';
import { toClientNetwork } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import { SteadyStore } from '../domain/steady-store.ts';
import type { ApiRequest, AppliedLimit } from './request.ts';

const WINDOW_MS = 60_000;

/** The counts of the limit with this name. Without it, a limit counts in the memory of this process. */
export type CreateStore = (limit: string) => Store;

/** Protection against floods: requests per minute from one address, whatever they contain. */
export function limitPerAddress(limit: number, createStore?: CreateStore) {
  const counts = openCounts(createStore?.('address'));
  return async (req: ApiRequest): Promise<void> => {
    req.ipLimit = { name: 'ip', limit, ...(await counts.increment(toClientNetwork(req.ip ?? ''))) };
    check(req.ipLimit, 'from this IP address');
  };
}

/** Requests per minute with one API key. */
export function limitPerKey(limit: number, createStore?: CreateStore, counted = 'key') {
  const counts = openCounts(createStore?.(counted));
  return async (req: ApiRequest, keyId: string): Promise<void> => {
    req.keyLimit = { name: 'key', limit, ...(await counts.increment(keyId)) };
    check(req.keyLimit, 'with this API key');
  };
}

/**
 * Windows are fixed: they begin with a client's first request, and a rejected one does not extend them. Of
 * express-rate-limit only the stores are used: its middleware takes three times as long as counting.
 */
function openCounts(store: Store = new SteadyStore()): Store {
  void store.init?.({ windowMs: WINDOW_MS } as Options);
  return store;
}

function check({ limit, totalHits }: AppliedLimit, whose: string): void {
  if (totalHits <= limit) return;
  const message = `More than ${limit} requests a minute ${whose}. Try again in 60 seconds.`;
  throw new Failure('rate_limited', message);
}

/** `RateLimit` and `RateLimit-Policy` for the policies that were applied (draft-ietf-httpapi-ratelimit-headers). */
export function toRateLimitHeaders({ ipLimit, keyLimit }: ApiRequest): readonly string[] {
  if (ipLimit === undefined) return [];
  const limits = keyLimit === undefined ? [ipLimit] : [ipLimit, keyLimit];
  const now = Date.now();
  return [
    'RateLimit',
    limits.map((limit) => toRemaining(limit, now)).join(', '),
    'RateLimit-Policy',
    limits.map(toPolicy).join(', '),
  ];
}

function toRemaining({ name, limit, totalHits, resetTime }: AppliedLimit, now: number): string {
  const remaining = Math.max(0, limit - totalHits);
  const seconds = Math.max(0, Math.ceil(((resetTime?.getTime() ?? 0) - now) / 1000));
  return `"${name}";r=${remaining};t=${seconds}`;
}

function toPolicy({ name, limit }: AppliedLimit): string {
  return `"${name}";q=${limit};w=${WINDOW_MS / 1000}`;
}
