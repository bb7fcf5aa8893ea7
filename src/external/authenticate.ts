import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isApiKey } from '../domain/access/api-key.ts';
import { isExpired } from '../domain/access/key-expiry.ts';
import { hashSecret } from '../domain/access/secret.ts';
import { Failure } from '../domain/failure.ts';
import { type Instant, toInstant } from '../domain/instant.ts';
import {
  findKeyHolder,
  type KeyHolder,
  USE_EVERY_MS,
  updateLastUsed,
} from '../store/accounts/api-keys.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { Store } from '../store/engine/store.ts';

/** The scheme is case-insensitive; one space or more, and nothing after the token (RFC 9110, 11.1 and 11.4). */
const BEARER = /^bearer +(\S+)$/i;

interface AuthenticationDeps {
  readonly store: Store;
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
}

/** By the kind of keys that are accepted: how others begin, and what is said of them. */
const OTHERS = {
  live: ['plb_test_', 'This key is for the sandbox, at /sandbox/v1/external.'],
  test: ['plb_live_', 'This is the sandbox: it takes the key that the docs print.'],
} as const;

export function createAuthentication(
  { store, now, logError }: AuthenticationDeps,
  kind: keyof typeof OTHERS,
) {
  const { noteUse, flush } = createLastUsed(store.db, now, logError);
  const [otherPrefix, refusal] = OTHERS[kind];

  /**
   * The holder of the request's API key, which is enabled, has not expired and is of an account on Pro; else throws
   * `unauthorized`. Each request reads the store, so that a disabled or deleted key is rejected at once.
   */
  const authenticate = async (req: IncomingMessage, reader: Reader): Promise<KeyHolder> => {
    const key = BEARER.exec(req.headers.authorization ?? '')?.[1] ?? '';
    if (key.startsWith(otherPrefix)) throw new Failure('unauthorized', refusal);
    const sha256 = findHash(req, key);
    const holder = sha256 === undefined ? undefined : await findKeyHolder(reader, sha256);
    // One answer for every other cause, so that it tells an attacker nothing.
    if (holder === undefined || hasExpired(holder, now))
      throw new Failure('unauthorized', 'Missing or invalid API key.');
    noteUse(holder);
    return holder;
  };
  return { authenticate, flush };
}

/** Each connection's last key, with its hash. To check and hash it again for each request took a tenth of a 304. */
const known = new WeakMap<Socket, { readonly key: string; readonly sha256: Uint8Array }>();

/** The SHA-256 of the request's key; undefined for a text that is not a key. */
function findHash({ socket }: IncomingMessage, key: string): Uint8Array | undefined {
  const last = known.get(socket);
  if (last?.key === key) return last.sha256;
  if (!isApiKey(key)) return undefined;
  const sha256 = hashSecret(key);
  known.set(socket, { key, sha256 });
  return sha256;
}

/** Most keys do not expire, and need no clock. */
function hasExpired({ expiresAt }: KeyHolder, now: () => Date): boolean {
  return expiresAt !== null && isExpired(expiresAt, toInstant(now()));
}

/** How long uses are collected before they are written together. */
const FLUSH_AFTER_MS = 1_000;

/** Writes when keys were last used, after the requests and never on their path. */
function createLastUsed(db: Store['db'], now: () => Date, logError: (error: unknown) => void) {
  const pending = new Map<string, Instant>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size === 0) return;
    const uses = new Map(pending);
    // A use that could not be written fails no request. The next use is written again.
    await updateLastUsed(db, uses).catch(logError);
    // Not before the write is done: until then, every request still reads the time of the former use.
    for (const keyId of uses.keys()) pending.delete(keyId);
  };

  const noteUse = ({ keyId, lastUsedAt }: KeyHolder) => {
    const usedAt = now();
    if (lastUsedAt !== null && usedAt.getTime() - Date.parse(lastUsedAt) < USE_EVERY_MS) return;
    if (pending.has(keyId)) return;
    pending.set(keyId, toInstant(usedAt));
    timer ??= setTimeout(() => void flush(), FLUSH_AFTER_MS).unref();
  };

  return { noteUse, flush };
}
