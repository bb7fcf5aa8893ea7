import { sql } from 'kysely';
import type { Point } from '../../domain/cursor.ts';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { insertGaps, insertPoint, newNonce, pointInserts } from '../lists/points.ts';
import { accountReportList, uncountItems } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';
import { forgetSome } from './forgetting.ts';

/* What leaves the list that arrivals.ts adds to. */

/** A position in a domain's list, and the nonce of the transaction that gave it. */
type DomainPoint = Pick<Tables['report'], 'position' | 'nonce'>;

interface Departed {
  readonly domainId: string;
  readonly day: Day;
  readonly points: readonly DomainPoint[];
}

/** Reports of one day leave the list, when it has them. Their positions become gaps, with their points. */
export async function removeArrivals(tx: Tx, { domainId, day, points }: Departed): Promise<void> {
  const listing = await findListing(tx, domainId);
  if (listing === undefined) return;
  const { accountId, ...seqs } = listing;
  const listId = accountReportList(accountId);
  await tx
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '-', points.length),
      reports_version: newVersion(),
    }))
    .where('id', '=', accountId)
    .execute();
  await uncountItems(tx, listId, { day, items: points.length });
  const queries = points.map(({ position }) => arrivalOf({ ...seqs, position: Number(position) }));
  const found = (await runAllPrepared(tx, queries)).flat();
  const left = found.map((arrival, i) => ({ listId, ...leave(arrival, points[i] as DomainPoint) }));
  await insertGaps(
    tx,
    listId,
    left.map(({ position }) => position),
  );
  // Those that joined together have one point behind them.
  const own = left.filter((_, i) => found[i]?.nonce === null);
  await runAllPrepared(tx, pointInserts(own));
  await beginLater(tx, listing);
  await forgetSome(tx, accountId);
}

interface Listing {
  readonly accountId: string;
  readonly accountSeq: number;
  readonly domainSeq: number;
}

/** The account whose list has a domain's reports. */
async function findListing(tx: Tx, domainId: string): Promise<Listing | undefined> {
  return await tx
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['account.id as accountId', 'account.seq as accountSeq', 'domain.seq as domainSeq'])
    .where('domain.id', '=', domainId)
    .where('status', '=', 'active')
    .where('unlisted_until', 'is', null)
    .executeTakeFirst();
}

type Arrival = Pick<Tables['account_arrival'], 'position' | 'domain_position' | 'nonce'>;

/** A point of the domain's list, at its position in the account's. */
function leave(arrival: Arrival, { position, nonce }: DomainPoint): Point {
  const behind = Number(arrival.domain_position) - Number(position);
  return { position: Number(arrival.position) - behind, nonce };
}

type ArrivalQuery = { accountSeq: number; domainSeq: number; position: number };

/** The row that a position of a domain's list is in. */
const arrivalOf = prepareQuery<ArrivalQuery, Arrival>((db, param) =>
  db
    .selectFrom('account_arrival')
    .select(['position', 'domain_position', 'nonce'])
    .where('domain_seq', '=', param('domainSeq'))
    .where('domain_position', '>=', param('position'))
    .where('account_seq', '=', param('accountSeq'))
    .where('position', '>', ({ selectFrom }) =>
      selectFrom('account').select('reports_begin').where('seq', '=', param('accountSeq')),
    )
    .orderBy('domain_position')
    .limit(1),
);

/** Rows that one transaction looks at. */
const ROWS_AT_ONCE = 200;

/**
 * The list begins before its first report that is left; the row of that becomes shorter. The newest row stays, also without
 * reports.
 */
async function beginLater(tx: Tx, { accountId, accountSeq }: Listing): Promise<void> {
  let begin: number | undefined;
  for (let rows = 0; rows < ROWS_AT_ONCE; rows += 1) {
    const [oldest] = await runPrepared(tx, oldestArrival({ accountSeq, after: begin ?? 0 }));
    if (oldest === undefined) break;
    const position = Number(oldest.position);
    if (oldest.first_left !== null) {
      const length = Number(oldest.domain_position) - Number(oldest.first_left) + 1;
      if (length === Number(oldest.length)) break;
      const row = tx.updateTable('account_arrival').set({ length });
      await row.where((eb) => eb.and({ account_seq: accountSeq, position })).execute();
      begin = position - length;
      break;
    }
    if (position === Number(oldest.newest)) break;
    begin = position;
  }
  if (begin === undefined) return;
  const listId = accountReportList(accountId);
  const point = tx.deleteFrom('list_point').where('list_id', '=', listId);
  await point.where('position', '=', begin).execute();
  await insertPoint(tx, listId, { position: begin, nonce: newNonce() });
  const account = tx.updateTable('account').set({ reports_begin: begin });
  await account.where('id', '=', accountId).execute();
}

type OldestQuery = { accountSeq: number; after: number };

/** `first_left` is a position in its domain's list, `newest` the account's newest. */
const oldestArrival = prepareQuery((db, param: Param<OldestQuery>) =>
  db
    .selectFrom('account_arrival as a')
    .innerJoin('account', 'account.seq', 'a.account_seq')
    .select(['a.position', 'a.domain_position', 'a.length', 'account.reports_position as newest'])
    .select(({ selectFrom }) =>
      selectFrom('report')
        .select('report.position')
        .where('report.domain_id', '=', (eb) =>
          eb.selectFrom('domain').select('id').whereRef('seq', '=', 'a.domain_seq'),
        )
        .where(sql<boolean>`report.position > a.domain_position - a.length`)
        .whereRef('report.position', '<=', 'a.domain_position')
        .orderBy('report.position')
        .limit(1)
        .as('first_left'),
    )
    .where('a.account_seq', '=', param('accountSeq'))
    .where('a.position', '>', param('after'))
    .whereRef('a.position', '>', 'account.reports_begin')
    .orderBy('a.position')
    .limit(1),
);
