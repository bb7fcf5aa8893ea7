import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import { NOT_KEPT } from '../../domain/sources/packed-sources.ts';
import { lockDomain } from '../accounts/domains.ts';
import type { Db, Tx } from '../engine/database.ts';
import { newVersion } from '../lists/heads.ts';
import { listPrunable, type Retention } from './old-reports.ts';

/* Who sent goes by age, the days before a given one: their messages stay counted. Reports stay, with their records. */

/** In one transaction. */
const DAYS_AT_ONCE = 31;

export interface PrunedSources {
  /** Days of domains. */
  readonly sourceDays: number;
  readonly sourceBytes: number;
}

/** Doing it twice does no harm. */
export async function pruneSources(db: Db, retention: Retention): Promise<PrunedSources> {
  let [sourceDays, sourceBytes] = [0, 0];
  for await (const { domainId, until } of listPrunable(db, retention)) {
    for (;;) {
      if (!(await retention.mayGoOn())) return { sourceDays, sourceBytes };
      const gone = await db.write((tx) => deleteSome(tx, domainId, until));
      if (gone.length === 0) break;
      sourceDays += gone.length;
      sourceBytes += gone.reduce((sum, { bytes }) => sum + Number(bytes), 0);
    }
  }
  return { sourceDays, sourceBytes };
}

/** What would go. */
export async function measureOldSources(db: Db, retention: Retention): Promise<PrunedSources> {
  let [sourceDays, sourceBytes] = [0, 0];
  for await (const { domainId, until } of listPrunable(db, retention)) {
    const days = await withSources(db, domainId, until).execute();
    sourceDays += days.length;
    sourceBytes += days.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  }
  return { sourceDays, sourceBytes };
}

function withSources(db: Db | Tx, domainId: string, until: Day) {
  const bytes = sql<number>`length(sources)`;
  return db
    .selectFrom('domain_day')
    .select(['day', bytes.as('bytes')])
    .where('domain_id', '=', domainId)
    .where('day', '<=', until)
    .where(bytes, '>', NOT_KEPT.length)
    .orderBy('day');
}

async function deleteSome(tx: Tx, domainId: string, until: Day) {
  await lockDomain(tx, domainId);
  const old = await withSources(tx, domainId, until).limit(DAYS_AT_ONCE).execute();
  const [first, last] = [old[0], old.at(-1)];
  if (first === undefined || last === undefined) return old;
  for (const table of ['domain_day', 'alert_day'] as const)
    await tx
      .updateTable(table)
      .set({ sources: NOT_KEPT })
      .where('domain_id', '=', domainId)
      .where('day', '>=', first.day)
      .where('day', '<=', last.day)
      .execute();
  // The list of sources has this version.
  const domain = tx.updateTable('domain').set({ reports_version: newVersion() });
  await domain.where('id', '=', domainId).execute();
  return old;
}
