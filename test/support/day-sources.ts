import type { Day } from '../../src/domain/instant.ts';
import type { Belief } from '../../src/domain/reports/authentication.ts';
import type { DaySource } from '../../src/domain/sources/day-sources.ts';
import { createDaysReads, type DaysReads } from '../../src/judging/reads.ts';
import { countDay, type DomainDay, planSources } from '../../src/store/days/day-sources.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { type Param, prepareQuery } from '../../src/store/engine/prepared.ts';
import { ask, toReader } from '../../src/store/engine/reader.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { NOW } from './builders.ts';

/** Reads that fail when what they have counted cannot be stored. */
export function readsOf(store: Pick<Store, 'db' | 'aside'>): DaysReads {
  return createDaysReads(store, {
    now: () => new Date(NOW),
    logError: (error) => {
      throw error;
    },
  });
}

interface DayOfDomain {
  readonly domain_id: string;
  readonly day: Day;
  readonly belief: Belief;
  /** From the cache, where it has them. */
  readonly sources: readonly DaySource[];
  readonly counted: readonly DaySource[];
}

const rowOf = prepareQuery((db, param: Param<DomainDay>) =>
  db
    .selectFrom('domain_day')
    .select(['day', 'belief', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day'))
    .where('belief', '=', param('belief')),
);

/** The sources of all rows of days. */
export async function listDays(db: Db): Promise<DayOfDomain[]> {
  const rows = db.selectFrom('domain_day').select(['domain_id', 'day', 'belief']);
  const inOrder = rows.orderBy('domain_id').orderBy('day').orderBy('belief');
  const days: DayOfDomain[] = [];
  for (const { domain_id, day, belief } of await inOrder.execute()) {
    const domainId = domain_id;
    const read = await db.write((tx) =>
      toReader(tx).readPlan(function* () {
        const [stored] = yield* ask(rowOf({ domainId, day, belief }));
        const sources = stored && (yield* planSources(stored, { domainId, version: '', days: [] }));
        return { sources: sources ?? [], counted: yield* countDay({ domainId, day, belief }) };
      }),
    );
    days.push({ domain_id, day, belief, ...read });
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
