import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import { toClientNetwork } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import type { ApiRequest } from './request.ts';

const WINDOW_MS = 60_000;

/** Counts a request and notes on it what is left; throws `rate_limited` when nothing is. */
type Limiter = (req: ApiRequest, res: ServerResponse) => Promise<void>;

/** The counts of the limit with this name. Without it, a limit counts in the memory of this process. */
export type CreateStore = (limit: string) => Store;

/** Protection against floods: requests per minute from one address, whatever they contain. */
export function limitPerAddress(limit: number, createStore?: CreateStore): Limiter {
  return createLimit({
    limit,
    store: createStore?.('address'),
    requestPropertyName: 'ipLimit',
    toKey: ({ ip = '' }) => toClientNetwork(ip),
    message: `More than ${limit} requests a minute from this IP address.`,
  });
}

/** Requests per minute with one API key. Comes after `authenticate`. */
export function limitPerKey(limit: number, createStore?: CreateStore): Limiter {
  return createLimit({
    limit,
    store: createStore?.('key'),
    requestPropertyName: 'keyLimit',
    toKey: ({ keyHolder }) => keyHolder?.keyId ?? '',
    message: `More than ${limit} requests a minute with this API key.`,
  });
}

interface Limit {
  readonly limit: number;
  readonly store: Store | undefined;
  readonly requestPropertyName: 'ipLimit' | 'keyLimit';
  readonly toKey: (req: ApiRequest) => string;
  readonly message: string;
}

/** Windows are fixed: they begin with a client's first request, and a rejected one does not extend them. */
function createLimit({ message, toKey, store, ...options }: Limit): Limiter {
  const limiter = rateLimit({
    ...options,
    ...(store === undefined ? {} : { store }),
    keyGenerator: (req) => toKey(req as ApiRequest),
    windowMs: WINDOW_MS,
    // The library's headers add a hash of the client's key, which costs one SHA-256 for each header.
    standardHeaders: false,
    legacyHeaders: false,
    // The library would look for mistakes of its configuration in each request.
    validate: false,
    handler: (_req, _res, next) =>
      next(new Failure('rate_limited', `${message} Try again in 60 seconds.`)),
  });
  return (req, res) =>
    new Promise((resolve, reject) => {
      const next = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      // Without its own headers, the library uses only what `keyGenerator` does.
      void limiter(req as Request, res as Response, next);
    });
}

/** `RateLimit` and `RateLimit-Policy` for the policies that were applied (draft-ietf-httpapi-ratelimit-headers). */
export function toRateLimitHeaders({ ipLimit, keyLimit }: ApiRequest): readonly string[] {
  if (ipLimit === undefined) return [];
  const ip = toItems('ip', ipLimit);
  if (keyLimit === undefined) return ['RateLimit', ip.left, 'RateLimit-Policy', ip.policy];
  const key = toItems('key', keyLimit);
  return [
    ...['RateLimit', `${ip.left}, ${key.left}`],
    ...['RateLimit-Policy', `${ip.policy}, ${key.policy}`],
  ];
}

function toItems(name: string, { limit, remaining, resetTime }: RateLimitInfo) {
  const resetMs = (resetTime?.getTime() ?? 0) - Date.now();
  return {
    left: `"${name}";r=${remaining};t=${Math.max(0, Math.ceil(resetMs / 1000))}`,
    policy: `"${name}";q=${limit};w=${WINDOW_MS / 1000}`,
  };
}
