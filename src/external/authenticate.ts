import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hashApiKey, isApiKey } from '../domain/access/api-key.ts';
import { isExpired } from '../domain/access/key-expiry.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { findKeyHolder, type KeyHolder } from '../store/accounts/api-keys.ts';
import type { Reader } from '../store/engine/reader.ts';

/** The scheme is case-insensitive; one space or more, and nothing after the token (RFC 9110, 11.1 and 11.4). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * The holder of the request's API key, which is enabled, has not expired and is of an account on Pro (description,
 * section 5); else throws `unauthorized`. Each request reads the store, so that a disabled or deleted key is
 * rejected at once.
 */
export async function authenticate(
  req: IncomingMessage,
  { reader, now }: { readonly reader: Reader; readonly now: () => Date },
): Promise<KeyHolder> {
  const sha256 = findHash(req);
  const holder = sha256 === undefined ? undefined : await findKeyHolder(reader, sha256);
  // One answer for every cause, so that it tells an attacker nothing.
  if (holder === undefined || hasExpired(holder, now))
    throw new Failure('unauthorized', 'Missing or invalid API key.');
  return holder;
}

interface Known {
  readonly authorization: string;
  readonly sha256: string;
}

/**
 * The last text that can be a key's of each connection. A client that keeps its connection has its key checked and
 * hashed once.
 */
const known = new WeakMap<Socket, Known>();

/** The SHA-256 of the request's key; undefined when there is none, or a text that is not a key. */
function findHash({ headers, socket }: IncomingMessage): string | undefined {
  const { authorization = '' } = headers;
  const last = known.get(socket);
  if (last?.authorization === authorization) return last.sha256;
  const key = BEARER.exec(authorization)?.[1];
  const sha256 = key !== undefined && isApiKey(key) ? hashApiKey(key) : undefined;
  if (sha256 !== undefined) known.set(socket, { authorization, sha256 });
  return sha256;
}

/** Most keys do not expire, and need no clock. */
function hasExpired({ expiresAt }: KeyHolder, now: () => Date): boolean {
  return expiresAt !== null && isExpired(expiresAt, toInstant(now()));
}
