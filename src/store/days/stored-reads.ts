import type { Reader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import { storeSources } from './day-sources.ts';
import type { Counted } from './summed-range.ts';

export type CountingRead<Query, Found> = (reader: Reader, query: Query) => Promise<Found & Counted>;

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
