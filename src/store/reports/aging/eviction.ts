import { type Day, toDay } from '../../../domain/instant.ts';
import type { Db, Tx } from '../../engine/database.ts';
import { dialectOf } from '../../engine/dialect.ts';
import { isOfDomain } from '../../lists/heads.ts';
import { alertList } from '../../lists/timeline.ts';
import type { NoteGone } from '../../work/gone.ts';
import { type Amount, deleteSome } from './old-reports.ts';

/* Reports of a domain without account go, the oldest first, with their conflicts and documents. */

/** In one transaction. */
const REPORTS_AT_ONCE = 20;

interface Eviction {
  readonly domainId: string;
  /** The last day of receipt whose reports may go. */
  readonly until: Day;
  /** When so many have gone, no more go. */
  readonly bytes: number;
  readonly mayGoOn: () => Promise<boolean>;
  readonly noteGone?: NoteGone | undefined;
}

/** Returns the bytes that went. Nothing goes of a domain that has an account by now. */
export async function evictReports(db: Db, eviction: Eviction): Promise<number> {
  let freed = 0;
  while (freed < eviction.bytes && (await eviction.mayGoOn())) {
    const gone = await db.write((tx) => evictSome(tx, eviction));
    if (gone.bytes === 0) break;
    eviction.noteGone?.('reports', gone.count);
    freed += gone.bytes;
  }
  return freed;
}

async function evictSome(tx: Tx, { domainId, until }: Eviction): Promise<Amount> {
  const domain = tx.selectFrom('domain').select('id').where('id', '=', domainId);
  const unclaimed = domain.where('account_id', 'is', null).$call(dialectOf(tx).locked);
  if ((await unclaimed.executeTakeFirst()) === undefined) return { count: 0, bytes: 0 };
  const oldest = await tx
    .selectFrom('report')
    .selectAll()
    .where(isOfDomain(domainId))
    .orderBy('seq')
    .limit(REPORTS_AT_ONCE)
    .execute();
  const kept = oldest.findIndex(({ received_at }) => toDay(received_at) > until);
  const old = kept === -1 ? oldest : oldest.slice(0, kept);
  const gone = await deleteSome(tx, domainId, old);
  if (gone.count === oldest.length && oldest.length < REPORTS_AT_ONCE)
    await deleteDomain(tx, domainId);
  return gone;
}

/** Its last report has gone, and its days with it; its alerts, too. */
export async function deleteDomain(tx: Tx, id: string): Promise<void> {
  for (const table of ['domain_day', 'dns_record', 'source_name', 'source_mark'] as const)
    await tx.deleteFrom(table).where('domain_id', '=', id).execute();
  await tx.deleteFrom('list_day').where('list_id', '=', alertList(id)).execute();
  await tx.deleteFrom('domain').where('id', '=', id).execute();
}
