import { toInstant } from '../domain/instant.ts';
import { type SourceName, updateNames } from '../store/days/names.ts';
import { listWatchedDomainIds } from '../store/domains/domains.ts';
import type { Store } from '../store/engine/store.ts';
import { rotate } from '../store/work/leases.ts';
import type { ShardRun } from '../store/work/shards.ts';
import type { LookUpName } from './reverse-lookup.ts';
import { listUnnamed } from './unnamed.ts';

/** The most addresses of one domain, and of one shard, in one round. The next round looks up the others. */
const PER_DOMAIN = 50;
const PER_SHARD = 1_000;
/** Look-ups under way at the same time. */
const TOGETHER = 10;

const HOUR_MS = 3_600_000;
/** How soon an address is looked up again: with a name, without one, and when no server answered. */
const KEPT_MS = { name: 7 * 24 * HOUR_MS, none: 24 * HOUR_MS, noAnswer: 6 * HOUR_MS };

interface NameWatchDeps {
  readonly store: Store;
  readonly lookUpName: LookUpName;
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
  /** Decides with which domain of the shard a round begins, as `Math.random` does. */
  readonly random?: () => number;
}

/**
 * Looks up the names of addresses that sent in the name of a shard's domains. An error with one domain is logged.
 * Each round begins with another domain, so that none is left out for ever. Returns whether it came to the end.
 */
export async function nameShard(deps: NameWatchDeps, { shard, mayGoOn }: ShardRun) {
  let left = PER_SHARD;
  const domains = await listWatchedDomainIds(deps.store.db, shard);
  for (const domainId of rotate(domains, deps.random)) {
    if (left <= 0) return true;
    const limit = Math.min(left, PER_DOMAIN);
    left -= limit;
    const done = await nameDomain(deps, { domainId, limit, mayGoOn }).catch((error: unknown) => {
      deps.logError(error);
      return limit;
    });
    if (done === undefined) return false;
    left += limit - done;
  }
  return true;
}

/** How many addresses were looked up; undefined when the run has to end. */
async function nameDomain(
  { store, lookUpName, now }: NameWatchDeps,
  { domainId, limit, mayGoOn }: { domainId: string; limit: number } & Pick<ShardRun, 'mayGoOn'>,
): Promise<number | undefined> {
  const at = toInstant(now());
  const addresses = await listUnnamed(store, { domainId, now: at, limit });
  for (let from = 0; from < addresses.length; from += TOGETHER) {
    if (!(await mayGoOn())) return undefined;
    const some = addresses.slice(from, from + TOGETHER);
    const look = async (address: string) => toSourceName(address, await lookUpName(address), now());
    await updateNames(store.db, { domainId, now: at }, await Promise.all(some.map(look)));
  }
  return (await mayGoOn()) ? addresses.length : undefined;
}

function toSourceName(address: string, name: string | null | undefined, now: Date): SourceName {
  const keptMs = KEPT_MS[name === undefined ? 'noAnswer' : name === null ? 'none' : 'name'];
  return { address, name, expiresAt: toInstant(new Date(now.getTime() + keptMs)) };
}
