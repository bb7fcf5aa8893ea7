import type { RequestHandler, Response } from 'express';
import { hashApiKey, isApiKey } from '../domain/api-key.ts';
import { Failure } from '../domain/failure.ts';
import { findKeyHolder, type KeyHolder } from '../store/accounts/api-keys.ts';
import type { Reader } from '../store/connection/reader.ts';

/** The scheme is case-insensitive; one space or more, and nothing after the token (RFC 9110, 11.1 and 11.4). */
const BEARER = /^bearer +(\S+)$/i;

interface Given {
  readonly reader: Reader;
  /** Called for every accepted key. It must not delay the request. */
  readonly onUse: (holder: KeyHolder) => void;
}

/**
 * Accepts a request when its API key is enabled and the account is on Pro (description, section 5). Each
 * request reads the store, so that a disabled or deleted key is rejected at once.
 */
export function authenticate({ reader, onUse }: Given): RequestHandler {
  return async (req, res, next) => {
    const holder = await findHolder(reader, req.headers.authorization);
    // One answer for every cause, so that it tells an attacker nothing.
    if (holder === undefined) throw new Failure('unauthorized', 'Missing or invalid API key.');
    res.locals['keyHolder'] = holder;
    onUse(holder);
    next();
  };
}

/** The holder of the request's key. Only valid after `authenticate`. */
export function keyHolderOf(res: Response): KeyHolder {
  return res.locals['keyHolder'] as KeyHolder;
}

async function findHolder(
  reader: Reader,
  authorization: string | undefined,
): Promise<KeyHolder | undefined> {
  const key = BEARER.exec(authorization ?? '')?.[1];
  if (key === undefined || !isApiKey(key)) return undefined;
  return await findKeyHolder(reader, hashApiKey(key));
}
