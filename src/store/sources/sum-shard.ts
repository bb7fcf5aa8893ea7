import { setTimeout as sleep } from 'node:timers/promises';
import { type Day, toDay, toInstant } from '../../domain/instant.ts';
import { isOver, LEVELS, type Level, levelOf, type Period } from '../../domain/sources/periods.ts';
import type { Db } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { isInShard, type Shard, type ShardRun } from '../work/shards.ts';
import { type SumLimits, sumPeriod } from './sums.ts';

/** After a period that was summed, requests of the same process and other writers go first. */
const PAUSE_MS = 20;

interface SumDeps {
  readonly store: Pick<Store, 'db' | 'reader'>;
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
  readonly limits?: SumLimits;
}

/**
 * Sums the stale periods of a shard's domains that are over, shorter ones first: one period a transaction. An error
 * with one domain is logged, and the next one follows. Returns whether it came to the end.
 */
export async function sumShard(deps: SumDeps, { shard, mayGoOn }: ShardRun): Promise<boolean> {
  for (const domainId of await listStaleDomains(deps.store.db, shard)) {
    const isDone = await sumDomain(deps, domainId, mayGoOn).catch((error: unknown) => {
      deps.logError(error);
      return true;
    });
    if (!isDone) return false;
  }
  return true;
}

/** Only domains of accounts, because nobody can see the sources of unclaimed domains. */
async function listStaleDomains(db: Db, shard: Shard): Promise<string[]> {
  const rows = await db
    .selectFrom('domain')
    .select('id')
    .where('account_id', 'is not', null)
    .where((eb) => isInShard(eb, shard))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('source_period')
          .select('period')
          .whereRef('source_period.domain_id', '=', 'domain.id')
          .where('state', '=', 'stale'),
      ),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns false when the run has to end. */
async function sumDomain(
  { store, now, limits }: SumDeps,
  domainId: string,
  mayGoOn: ShardRun['mayGoOn'],
): Promise<boolean> {
  for (const level of LEVELS)
    for (const period of await listStale(store.db, domainId, level, toDay(toInstant(now())))) {
      if (!(await mayGoOn())) return false;
      const isWritten = await sumPeriod(store, { domainId, period }, limits);
      await sleep(isWritten ? PAUSE_MS : 0);
    }
  // Yields to the event loop: reading SQLite blocks it, even when the read is awaited.
  await sleep(0);
  return await mayGoOn();
}

async function listStale(db: Db, domainId: string, level: Level, today: Day): Promise<Period[]> {
  const rows = await db
    .selectFrom('source_period')
    .select('period')
    .where('domain_id', '=', domainId)
    .where('state', '=', 'stale')
    .orderBy('period')
    .execute();
  return rows
    .map(({ period }) => period)
    .filter((period) => levelOf(period) === level && isOver(period, today));
}
