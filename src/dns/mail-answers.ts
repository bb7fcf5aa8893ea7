import { LRUCache } from 'lru-cache';
import { ABSENT, createResolver } from './resolver.ts';

interface Answered {
  readonly records?: unknown[];
  readonly code?: string | undefined;
}

const TYPES = new Set(['A', 'AAAA', 'MX', 'PTR', 'TXT']);
/** The size of all answers, in characters of their JSON. Names come from strangers. */
const MAX_CHARS = 4 * 1024 * 1024;
const KEPT_MS = 600_000;
/** A server that does not answer is asked again after this time. */
const FAILED_KEPT_MS = 60_000;
const TIMEOUT_MS = 3_000;

/**
 * Answers that verifying mails needs, kept for a while. An answer that comes late is kept for the next mail. Rejects with
 * the resolver's `code`; ENOTFOUND and ENODATA are answers that there is no such record.
 */
export function createMailAnswers(servers: readonly string[]) {
  const resolver = createResolver(servers, TIMEOUT_MS);
  const known = new LRUCache<string, Answered>({
    maxSize: MAX_CHARS,
    sizeCalculation: (answered, key) => JSON.stringify(answered).length + key.length,
    ttl: KEPT_MS,
  });
  const asked = new Map<string, Promise<Answered>>();
  const askOnce = async (key: string, name: string, type: string) => {
    const answered = await resolver.resolve(name, type as 'TXT').then(toAnswered, toFailed);
    const isFailure = answered.code !== undefined && !ABSENT.has(answered.code);
    known.set(key, answered, { ttl: isFailure ? FAILED_KEPT_MS : KEPT_MS });
    asked.delete(key);
    return answered;
  };
  return async (name: string, type: string) => {
    if (!TYPES.has(type)) throw toError('EBADQUERY');
    const key = `${type} ${name.toLowerCase()}`;
    const asking = asked.get(key) ?? known.get(key) ?? askOnce(key, name, type);
    if (asking instanceof Promise) asked.set(key, asking);
    const { records, code } = await asking;
    if (records === undefined) throw toError(code);
    // The library sorts what it gets.
    return [...records];
  };
}

const toAnswered = (records: unknown): Answered => ({ records: records as unknown[] });
const toFailed = ({ code = 'EFAILED' }: NodeJS.ErrnoException): Answered => ({ code });

const toError = (code = 'EFAILED') => Object.assign(new Error(code), { code });
