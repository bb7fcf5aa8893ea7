import { setImmediate } from 'node:timers/promises';
import { listWatchedDomainIds } from '../store/accounts/domains.ts';
import type { ShardRun } from '../store/work/shards.ts';
import { evaluate, type Given } from './evaluate.ts';

/**
 * Evaluates every domain of a shard, because missing reports trigger no ingest. An error with one domain is
 * logged, and the next domain is evaluated. Returns whether it came to the end.
 */
export async function evaluateShard(given: Logged, { shard, mayGoOn }: ShardRun): Promise<boolean> {
  for (const id of await listWatchedDomainIds(given.store.db, shard)) {
    if (!(await mayGoOn())) return false;
    await evaluate(given, [id]);
    // Requests have priority: thousands of domains must not delay them.
    await setImmediate();
  }
  return true;
}

interface Logged extends Given {
  readonly logError: (error: unknown) => void;
}
