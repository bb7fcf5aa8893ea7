import type { Day } from '../../src/domain/instant.ts';
import type { DaySource } from '../../src/domain/sources/day-sources.ts';
import { countDay, daysOf, planSources } from '../../src/store/days/day-sources.ts';
import { createDaysReads, type DaysReads } from '../../src/store/days/reads.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { ask, toReader } from '../../src/store/engine/reader.ts';
import type { Store } from '../../src/store/engine/store.ts';

/** Reads that fail when what they have counted cannot be stored. */
export function readsOf(store: Pick<Store, 'db' | 'aside'>): DaysReads {
  return createDaysReads(store, {
    logError: (error) => {
      throw error;
    },
  });
}

interface DayOfDomain {
  readonly domain_id: string;
  readonly day: Day;
  /** From the cache, where it has them. */
  readonly sources: readonly DaySource[];
  readonly counted: readonly DaySource[];
}

/** The sources of all days. */
export async function listDays(db: Db): Promise<DayOfDomain[]> {
  const rows = db.selectFrom('domain_day').select(['domain_id', 'day']);
  const days: DayOfDomain[] = [];
  for (const { domain_id, day } of await rows.orderBy('domain_id').orderBy('day').execute()) {
    const domainId = domain_id;
    const read = await db.write((tx) =>
      toReader(tx).readPlan(function* () {
        const [stored] = yield* ask(daysOf({ domainId, from: day, to: day }));
        const sources = stored && (yield* planSources(stored, { domainId, version: '', days: [] }));
        return { sources: sources ?? [], counted: yield* countDay({ domainId, day }) };
      }),
    );
    days.push({ domain_id, day, ...read });
  }
  return days;
}

/** What each address sent on each day, by address. */
export async function listSources(db: Db) {
  const rows = (await listDays(db)).flatMap(({ sources }) =>
    sources.map(({ address, messages, aligned }) => ({ address, messages, aligned })),
  );
  return rows.sort((a, b) => (a.address < b.address ? -1 : 1));
}
