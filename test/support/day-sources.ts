import type { Day } from '../../src/domain/instant.ts';
import { toAddress } from '../../src/domain/sources/address-key.ts';
import type { DaySources } from '../../src/domain/sources/day-sources.ts';
import { unpackSources } from '../../src/domain/sources/packed-sources.ts';
import type { Db } from '../../src/store/engine/database.ts';

interface DayOfDomain {
  readonly domain_id: string;
  readonly day: Day;
  readonly sources: DaySources;
}

/** The sources of all days, unpacked. */
export async function listDays(db: Db): Promise<DayOfDomain[]> {
  const rows = await db
    .selectFrom('domain_day')
    .select(['domain_id', 'day', 'sources'])
    .orderBy('domain_id')
    .orderBy('day')
    .execute();
  return rows.map((row) => ({ ...row, sources: unpackSources(row.sources) }));
}

/** What each address sent on each day, by address. */
export async function listSources(db: Db) {
  const rows = (await listDays(db)).flatMap(({ sources }) =>
    [...sources].map(([key, { counts }]) => {
      const { messages, aligned } = counts;
      return { address: toAddress(key), messages, aligned };
    }),
  );
  return rows.sort((a, b) => (a.address < b.address ? -1 : 1));
}
