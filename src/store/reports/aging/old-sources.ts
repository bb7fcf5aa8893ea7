import { sql } from 'kysely';
import type { Day } from '../../../domain/instant.ts';
import type { Db, Tx } from '../../engine/database.ts';
import { type Amount, addUp, listPrunable, type Retention } from './old-reports.ts';

/* Old days lose the cache of their sources, which takes space: whoever looks has them counted again. */

/** In one transaction. */
const DAYS_AT_ONCE = 31;

/** Days of domains, with the bytes of their sources. Doing it twice does no harm. */
export function pruneSources(db: Db, retention: Retention): Promise<Amount> {
  return addUp(listPrunable(db, retention), retention.mayGoOn, ({ domainId, until }) =>
    db.write((tx) => deleteSome(tx, domainId, until)),
  );
}

/** What would go. */
export async function measureOldSources(db: Db, retention: Retention): Promise<Amount> {
  let [count, bytes] = [0, 0];
  for await (const { domainId, until } of listPrunable(db, retention)) {
    const days = await withSources(db, domainId, until).execute();
    count += days.length;
    bytes += sumBytes(days);
  }
  return { count, bytes };
}

const sumBytes = (days: readonly { bytes: number }[]) =>
  days.reduce((sum, { bytes }) => sum + bytes, 0);

function withSources(db: Db | Tx, domainId: string, until: Day) {
  const bytes = sql<number>`length(sources)`;
  return db
    .selectFrom('domain_day')
    .select(['day', bytes.as('bytes')])
    .where('domain_id', '=', domainId)
    .where('day', '<=', until)
    .where('sources', 'is not', null)
    .orderBy('day');
}

async function deleteSome(tx: Tx, domainId: string, until: Day): Promise<Amount | undefined> {
  const old = await withSources(tx, domainId, until).limit(DAYS_AT_ONCE).execute();
  const [first, last] = [old[0], old.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  await tx
    .updateTable('domain_day')
    .set({ sources: null })
    .where('domain_id', '=', domainId)
    .where('day', '>=', first.day)
    .where('day', '<=', last.day)
    .execute();
  return { count: old.length, bytes: sumBytes(old) };
}
