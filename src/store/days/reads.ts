import type { Day } from '../../domain/instant.ts';
import { storeSources } from './day-sources.ts';
import { readMail, readPatterns, readResults } from './mail.ts';
import { findLastDay, readSource } from './source.ts';
import { listSources } from './source-list.ts';
import type { CountingRead, ReadingStore } from './stored-reads.ts';

/* What pages and the API read of sources runs beside the requests: engine/aside.ts finds these functions by their names here. */

export { findLastDay, listSources, readMail, readPatterns, readResults, readSource };

const READS = { findLastDay, listSources, readMail, readPatterns, readResults, readSource };

type Reads = typeof READS;
export type DaysReads = {
  readonly [Name in keyof Reads]: (
    query: Parameters<Reads[Name]>[1],
  ) => Promise<Omit<Awaited<ReturnType<Reads[Name]>>, 'counted'>>;
};

interface Keeping {
  /** The first day whose sources are kept; undefined when all are. */
  readonly findFirst?: () => Day | undefined;
  readonly logError: (error: unknown) => void;
}

/** Reads whose answers do not wait until the days that they have counted are stored. */
export function createDaysReads(
  { db, aside }: ReadingStore,
  { findFirst = () => undefined, logError }: Keeping,
): DaysReads {
  const run = async (read: CountingRead<unknown, object>, query: unknown) => {
    const found = await aside.run(import.meta.url, read, query);
    if (found.counted !== undefined && found.counted.days.length > 0)
      void storeSources(db, found.counted, findFirst()).catch(logError);
    return found;
  };
  const reads = Object.entries(READS).map(([name, read]) => [
    name,
    (query: unknown) => run(read as CountingRead<unknown, object>, query),
  ]);
  return Object.fromEntries(reads);
}
