import { type Instant, toInstant } from '../domain/instant.ts';
import { type KeyHolder, updateLastUsed } from '../store/accounts/api-keys.ts';
import type { Store } from '../store/engine/open.ts';

/** `last_used_at` is written at most this often for each key (decisions, section 2). */
const WRITE_EVERY_MS = 60_000;
/** How long uses are collected before they are written together. */
const FLUSH_AFTER_MS = 1_000;

interface Given {
  readonly db: Store['db'];
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
}

/** Writes when keys were last used, after the requests and never on their path. */
export function createLastUsed({ db, now, logError }: Given) {
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

  const record = ({ keyId, lastUsedAt }: KeyHolder) => {
    const usedAt = now();
    if (lastUsedAt !== null && usedAt.getTime() - Date.parse(lastUsedAt) < WRITE_EVERY_MS) return;
    if (pending.has(keyId)) return;
    pending.set(keyId, toInstant(usedAt));
    timer ??= setTimeout(() => void flush(), FLUSH_AFTER_MS).unref();
  };

  return { record, flush };
}
