import { MemoryStore, type Options, type Store } from 'express-rate-limit';
import { toClientNetwork } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import type { ApiRequest, AppliedLimit } from './request.ts';

const WINDOW_MS = 60_000;

/** Counts a request and notes on it what is left; throws `rate_limited` when nothing is. */
type Limiter = (req: ApiRequest) => Promise<void>;

/** The counts of the limit with this name. Without it, a limit counts in the memory of this process. */
export type CreateStore = (limit: string) => Store;

/** Protection against floods: requests per minute from one address, whatever they contain. */
export function limitPerAddress(limit: number, createStore?: CreateStore): Limiter {
  return createLimit({
    ...{ name: 'ip', limit, property: 'ipLimit' },
    store: createStore?.('address'),
    toKey: ({ ip = '' }) => toClientNetwork(ip),
    message: `More than ${limit} requests a minute from this IP address.`,
  });
}

/** Requests per minute with one API key. Comes after `authenticate`. */
export function limitPerKey(limit: number, createStore?: CreateStore): Limiter {
  return createLimit({
    ...{ name: 'key', limit, property: 'keyLimit' },
    store: createStore?.('key'),
    toKey: ({ keyHolder }) => keyHolder?.keyId ?? '',
    message: `More than ${limit} requests a minute with this API key.`,
  });
}

interface Limit {
  readonly name: string;
  readonly limit: number;
  readonly property: 'ipLimit' | 'keyLimit';
  readonly store: Store | undefined;
  readonly toKey: (req: ApiRequest) => string;
  readonly message: string;
}

/**
 * Windows are fixed: they begin with a client's first request, and a rejected one does not extend them. Of
 * express-rate-limit only the stores are used: its middleware takes three times as long as counting.
 */
function createLimit({ name, limit, property, toKey, message, ...given }: Limit): Limiter {
  const store = given.store ?? new MemoryStore();
  void store.init?.({ windowMs: WINDOW_MS } as Options);
  return async (req) => {
    const { totalHits, resetTime } = await store.increment(toKey(req));
    req[property] = { name, limit, totalHits, resetTime };
    if (totalHits > limit) throw new Failure('rate_limited', `${message} Try again in 60 seconds.`);
  };
}

/** `RateLimit` and `RateLimit-Policy` for the policies that were applied (draft-ietf-httpapi-ratelimit-headers). */
export function toRateLimitHeaders({ ipLimit, keyLimit }: ApiRequest): readonly string[] {
  if (ipLimit === undefined) return [];
  const now = Date.now();
  const ip = toItems(ipLimit, now);
  if (keyLimit === undefined) return ['RateLimit', ip.left, 'RateLimit-Policy', ip.policy];
  const key = toItems(keyLimit, now);
  return [
    ...['RateLimit', `${ip.left}, ${key.left}`],
    ...['RateLimit-Policy', `${ip.policy}, ${key.policy}`],
  ];
}

function toItems({ name, limit, totalHits, resetTime }: AppliedLimit, now: number) {
  const remaining = Math.max(0, limit - totalHits);
  const seconds = Math.max(0, Math.ceil(((resetTime?.getTime() ?? 0) - now) / 1000));
  return {
    left: `"${name}";r=${remaining};t=${seconds}`,
    policy: `"${name}";q=${limit};w=${WINDOW_MS / 1000}`,
  };
}
