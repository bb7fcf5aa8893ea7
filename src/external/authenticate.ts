import type { IncomingMessage } from 'node:http';
import { hashApiKey, isApiKey } from '../domain/access/api-key.ts';
import { isExpired } from '../domain/access/key-expiry.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { findKeyHolder, type KeyHolder } from '../store/accounts/api-keys.ts';
import type { Reader } from '../store/connection/reader.ts';

/** The scheme is case-insensitive; one space or more, and nothing after the token (RFC 9110, 11.1 and 11.4). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * The holder of the request's API key, which is enabled, has not expired and is of an account on Pro (description,
 * section 5); else throws `unauthorized`. Each request reads the store, so that a disabled or deleted key is
 * rejected at once.
 */
export async function authenticate(
  { headers }: IncomingMessage,
  { reader, now }: { readonly reader: Reader; readonly now: () => Date },
): Promise<KeyHolder> {
  const key = BEARER.exec(headers.authorization ?? '')?.[1];
  const holder =
    key !== undefined && isApiKey(key) ? await findKeyHolder(reader, hashApiKey(key)) : undefined;
  // One answer for every cause, so that it tells an attacker nothing.
  if (holder === undefined || hasExpired(holder, now))
    throw new Failure('unauthorized', 'Missing or invalid API key.');
  return holder;
}

/** Most keys do not expire, and need no clock. */
function hasExpired({ expiresAt }: KeyHolder, now: () => Date): boolean {
  return expiresAt !== null && isExpired(expiresAt, toInstant(now()));
}
