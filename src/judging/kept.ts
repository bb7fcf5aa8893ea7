import { isMainThread } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { Reader } from '../store/engine/reader.ts';

/*
 * What was found of domains and accounts, for whoever asks again: sums of ranges, who sent, whose mail it is, what there is to do.
 * All of it together has at most so many bytes in a thread, by estimates that round up; what was used last stays. The thread beside
 * the requests (engine/aside.ts) keeps little, since it needs its memory for the sums that it makes: one at a time of each account
 * (reads.ts), of so many addresses and patterns (summed-range.ts).
 */
const MAX_BYTES = (isMainThread ? 32 : 8) * 2 ** 20;

type Cache = LRUCache<string, object>;
const caches = new WeakMap<Reader, Cache>();

function cacheOf(reader: Reader): Cache {
  const of = reader.madeBy ?? reader;
  const cache =
    caches.get(of) ??
    new LRUCache({ maxSize: MAX_BYTES, ttlAutopurge: true, updateAgeOnGet: true });
  caches.set(of, cache);
  return cache;
}

interface Kind<Value> {
  readonly name: string;
  readonly toBytes: (value: Value) => number;
  /** How long it is kept after it was used last; without it, until others need the room. */
  readonly ttlMs?: number;
}

/** A key names one thing of a kind. Values say themselves what they are good for: an old one is replaced by its successor. */
export function keep<Value extends object>({ name, toBytes, ttlMs = 0 }: Kind<Value>) {
  const toKey = (key: string) => `${name} ${key}`;
  return {
    find: (reader: Reader, key: string) => cacheOf(reader).get(toKey(key)) as Value | undefined,
    set: (reader: Reader, key: string, value: Value) => {
      // What is larger is kept alone: each page of such a range would count it again.
      const size = Math.min(toBytes(value), MAX_BYTES);
      cacheOf(reader).set(toKey(key), value, { size, ttl: ttlMs });
    },
    delete: (reader: Reader, key: string) => cacheOf(reader).delete(toKey(key)),
  };
}

interface Finding<Value> {
  readonly version: string;
  readonly found: Promise<Value>;
  /** Once it is found. */
  readonly value?: Value;
}

/**
 * Keeps what is found from when it is looked for, so that whoever asks for it meanwhile waits for the same. A version is another one
 * when something changes by which it is found. What failed is not kept.
 */
export function keepFinding<Value extends object>({ toBytes, ...kind }: Kind<Value>) {
  const kept = keep<Finding<Value>>({
    ...kind,
    toBytes: ({ value }) => (value === undefined ? 1 : toBytes(value)),
  });
  return async (
    reader: Reader,
    { key, version }: { readonly key: string; readonly version: string },
    find: () => Promise<Value>,
  ): Promise<Value> => {
    const former = kept.find(reader, key);
    if (former?.version === version) return await former.found;
    const finding = { version, found: find() };
    kept.set(reader, key, finding);
    // A later version may be kept by then.
    const isKept = () => kept.find(reader, key) === finding;
    try {
      const value = await finding.found;
      if (isKept()) kept.set(reader, key, { ...finding, value });
      return value;
    } catch (error) {
      if (isKept()) kept.delete(reader, key);
      throw error;
    }
  };
}
