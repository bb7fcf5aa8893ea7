import { setTimeout as sleep } from 'node:timers/promises';
import { toDay, toInstant } from '../domain/instant.ts';
import { storeSources } from '../store/days/day-sources.ts';
import { createLanes } from '../store/engine/lanes.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { Store } from '../store/engine/store.ts';
import { readEvidence } from './evidence.ts';
import { findLastDay, readSource } from './source.ts';
import { readSources } from './source-list.ts';
import type { Counted, ScopedQuery } from './summed-range.ts';
import { readTlsDays } from './tls.ts';

/* What pages and the API read of sources and of TLS reports runs beside the requests: engine/aside.ts finds these functions by their names here. */

export { findLastDay, readEvidence, readSource, readSources, readTlsDays };

const READS = { findLastDay, readSources, readEvidence, readSource, readTlsDays };

type Reads = typeof READS;
export type DaysReads = {
  readonly [Name in keyof Reads]: (
    query: Omit<Parameters<Reads[Name]>[1], 'today'>,
  ) => Promise<Omit<Awaited<ReturnType<Reads[Name]>>, 'counted'>>;
};

interface Clock {
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
}

/** How long a read waits for those of its account, which run one at a time, so that those of others have their turns. */
const WAIT_MS = 15_000;

/** How long the next read of an account waits until what the one before has counted is stored. */
const STORE_MS = 2_000;

/**
 * Reads whose answers do not wait until the days that they have counted are stored. The next one does, for a while: where the disk
 * is slow, the days of many would fill the memory, and would be counted again.
 */
export function createDaysReads({ db, aside }: ReadingStore, { now, logError }: Clock): DaysReads {
  const inLane = createLanes(1, WAIT_MS);
  const run = (read: CountingRead<unknown, object>, query: Pick<ScopedQuery, 'scope'>) => {
    const today = toDay(toInstant(now()));
    const answer = Promise.withResolvers<object>();
    const reading = inLane(query.scope.accountId, async () => {
      const { counted, ...found } = await aside.run(import.meta.url, read, { ...query, today });
      answer.resolve(found);
      if (counted === undefined || counted.days.length === 0) return;
      const storing = storeSources(db, counted).catch(logError);
      await Promise.race([storing, sleep(STORE_MS, undefined, { ref: false })]);
    });
    reading.catch(answer.reject);
    return answer.promise;
  };
  const reads = Object.entries(READS).map(([name, read]) => [
    name,
    (query: Pick<ScopedQuery, 'scope'>) => run(read as CountingRead<unknown, object>, query),
  ]);
  return Object.fromEntries(reads);
}

type CountingRead<Query, Found> = (reader: Reader, query: Query) => Promise<Found & Counted>;

export type ReadingStore = Pick<Store, 'db' | 'aside'>;

/** Stores the days that a read has counted before it goes on: no request waits for this work. */
export async function readStored<Query, Found>(
  { db, aside }: ReadingStore,
  module: string,
  [read, query]: readonly [CountingRead<Query, Found>, Query],
): Promise<Found> {
  const found = await aside.run(module, read, query);
  if (found.counted !== undefined) await storeSources(db, found.counted);
  return found;
}
