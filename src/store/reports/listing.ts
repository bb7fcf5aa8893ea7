import { sql } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { tellOfChanges } from '../events/events.ts';
import { newNonce, takeNumbers } from '../lists/changes.ts';
import { isOfDomain } from '../lists/heads.ts';
import { readNow } from '../work/clock.ts';
import { addToLists, takeFromLists } from './account-lists.ts';
import { accountSeqOf, ofDmarc, ofTls, type ReportRow } from './report-row.ts';

/*
 * An account's list has the reports of its active domains. When a domain is added, paused, resumed or removed, the
 * account's clients are told at once (lists/changes.ts), and its reports come to the list, or leave it, in bounded
 * transactions. The domain's row has how far they came, so it does not matter which process goes on.
 */

interface ListedDomain {
  readonly accountId: string;
  readonly domainId: string;
  readonly at: Instant;
}

/** The caller has changed the row of the domain, which it holds. Returns the number of the change. */
export async function noteListing(
  tx: Tx,
  { accountId, domainId, at }: ListedDomain,
  change: 'domain.listed' | 'domain.unlisted' | 'domain.removed',
): Promise<number> {
  const isListed = change === 'domain.listed';
  const own = isListed ? {} : { type: change, domainId };
  const { number } = await takeNumbers(tx, { accountId, at, ...own });
  await tx
    .updateTable('domain')
    .set({ listing_from: sql`case when reports_total + tls_total > 0 then 0 end` })
    .$if(isListed, (update) => update.set({ number }))
    .where('id', '=', domainId)
    .execute();
  return number;
}

/** Reports that one transaction lists. */
const LISTED_AT_ONCE = 500;

/**
 * Goes on with all domains. Returns whether it came to the end; doing it twice does no harm. Throws the first error, after
 * the other domains.
 */
export async function finishListings(
  db: Db,
  mayGoOn: () => Promise<boolean>,
  atOnce?: number,
): Promise<boolean> {
  const waiting = db.selectFrom('domain').select('id').where('listing_from', 'is not', null);
  const errors: unknown[] = [];
  for (const { id } of await waiting.orderBy('id').execute())
    try {
      if (!(await finishListing(db, id, { mayGoOn, atOnce }))) return false;
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
  return true;
}

interface Listing {
  readonly mayGoOn?: () => Promise<boolean>;
  readonly atOnce?: number | undefined;
}

/** Until all reports of a domain are listed as it is. Returns whether it came to the end. */
export async function finishListing(
  db: Db,
  domainId: string,
  { mayGoOn = async () => true, atOnce = LISTED_AT_ONCE }: Listing = {},
): Promise<boolean> {
  for (;;) {
    const at = await readNow(db);
    if (await db.write((tx) => listNext(tx, domainId, { at, atOnce }))) return true;
    if (!(await mayGoOn())) return false;
  }
}

/** Returns whether nothing is left to do. */
async function listNext(
  tx: Tx,
  domainId: string,
  { at, atOnce }: { readonly at: Instant; readonly atOnce: number },
): Promise<boolean> {
  const domain = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'listing_from', 'number'])
    .where('id', '=', domainId)
    .$call(dialectOf(tx).locked)
    .executeTakeFirst();
  if (domain === undefined || domain.listing_from === null) return true;
  const { listing_from: from, account_id: accountId, status, number: listedBy } = domain;
  const reports = await tx
    .selectFrom('report')
    .select(['seq', 'begin_date', 'account_seq', 'tls_account_seq', 'number'])
    .select(['reporter', 'reporter_host', 'kind'])
    .where(isOfDomain(domainId))
    .where('seq', '>=', from)
    .orderBy('seq')
    .limit(atOnce)
    .execute();
  const target = accountId !== null && status === 'active' ? accountId : null;
  await move(tx, { domainId, reports, target, listedBy, at });
  const last = reports.length < atOnce ? undefined : reports.at(-1);
  const listing_from = last === undefined ? null : last.seq + 1;
  await tx.updateTable('domain').set({ listing_from }).where('id', '=', domainId).execute();
  return listing_from === null;
}

interface Move {
  readonly domainId: string;
  readonly reports: readonly ListedRow[];
  /** The account whose list they come to; null: none. */
  readonly target: string | null;
  /** The number of the change with which the domain was added or resumed. */
  readonly listedBy: number;
  readonly at: Instant;
}

async function move(tx: Tx, { domainId, reports, target, listedBy, at }: Move): Promise<void> {
  const account = tx.selectFrom('account').select('seq').where('id', '=', target);
  const { seq: wanted = null } = (await account.executeTakeFirst()) ?? {};
  // One that is listed still since before a pause has a number that clients have dropped.
  const moved = reports.filter(
    (one) => accountSeqOf(one) !== wanted || (one.number !== null && one.number < listedBy),
  );
  if (moved.length === 0) return;
  await takeFromLists(tx, moved);
  if (target !== null) await tellOfArrivals(tx, { accountId: target, at, domainId }, moved);
  const list = target === null ? [] : [{ accountId: target, reports: moved }];
  const placeIn = await addToLists(tx, list, { nonce: newNonce(), at });
  await runAllPrepared(
    tx,
    moved.map((report) => {
      const { seq, begin_date } = report;
      return placeUpdate({ domainId, begin_date, seq, ...placeIn(report) });
    }),
  );
}

async function tellOfArrivals(
  tx: Tx,
  { domainId, ...change }: ListedDomain,
  moved: readonly ListedRow[],
): Promise<void> {
  const counts = [
    ['report.received', ofDmarc(moved).length],
    ['tls_report.received', ofTls(moved).length],
  ] as const;
  for (const [type, report_count] of counts)
    if (report_count > 0)
      await tellOfChanges(tx, { ...change, type, data: [{ domain_id: domainId, report_count }] });
}

type Placed = Pick<ReportRow, 'begin_date' | 'seq' | 'account_seq' | 'tls_account_seq' | 'number'>;
type ListedRow = Placed & Pick<ReportRow, 'reporter' | 'reporter_host' | 'kind'>;

const placeUpdate = prepareQuery((db, param: Param<Placed & { domainId: string }>) =>
  db
    .updateTable('report')
    .set({ account_seq: param('account_seq'), number: param('number') })
    .set({ tls_account_seq: param('tls_account_seq') })
    .where(isOfDomain(param('domainId')))
    // The whole key (decision 90).
    .where('begin_date', '=', param('begin_date'))
    .where('seq', '=', param('seq')),
);
