import { type ExpressionBuilder, sql } from 'kysely';
import type { Point } from '../../domain/cursor.ts';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { beginAfter, insertGaps, pointInserts } from '../lists/points.ts';
import { accountReportList, uncountItems } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

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
  const accountId = await findListing(tx, domainId);
  if (accountId === undefined) return;
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
  const queries = points.map(({ position }) => arrivalOf({ domainId, position: Number(position) }));
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
  await forgetOldest(tx, accountId);
}

/** The account whose list has a domain's reports. */
async function findListing(tx: Tx, domainId: string): Promise<string | undefined> {
  const domain = tx.selectFrom('domain').select('account_id').where('id', '=', domainId);
  const row = await domain.where('status', '=', 'active').executeTakeFirst();
  return row?.account_id ?? undefined;
}

type Arrival = Pick<Tables['account_arrival'], 'position' | 'domain_position' | 'nonce'>;

/** A point of the domain's list, at its position in the account's. */
function leave(arrival: Arrival, { position, nonce }: DomainPoint): Point {
  const behind = Number(arrival.domain_position) - Number(position);
  return { position: Number(arrival.position) - behind, nonce };
}

/** The row that a position of a domain's list is in. */
const arrivalOf = prepareQuery<{ domainId: string; position: number }, Arrival>((db, param) =>
  db
    .selectFrom('account_arrival')
    .select(['position', 'domain_position', 'nonce'])
    .where('domain_id', '=', param('domainId'))
    .where('domain_position', '>=', param('position'))
    .orderBy('domain_position')
    .limit(1),
);

/** Rows in one transaction. */
const FORGOTTEN_AT_ONCE = 200;

/**
 * The list begins before its first report that is left: rows before are forgotten, with their gaps and points, and the
 * first row becomes shorter. The newest row stays, also without reports.
 */
async function forgetOldest(tx: Tx, accountId: string): Promise<void> {
  let begin: number | undefined;
  for (let rows = 0; rows < FORGOTTEN_AT_ONCE; rows += 1) {
    const [oldest] = await runPrepared(tx, oldestArrival({ accountId }));
    if (oldest === undefined) break;
    const position = Number(oldest.position);
    const isOldest = (eb: ExpressionBuilder<Tables, 'account_arrival'>) =>
      eb.and({ account_id: accountId, position });
    if (oldest.first_left !== null) {
      const length = Number(oldest.domain_position) - Number(oldest.first_left) + 1;
      if (length === Number(oldest.length)) break;
      await tx.updateTable('account_arrival').set({ length }).where(isOldest).execute();
      begin = position - length;
      break;
    }
    if (position === Number(oldest.newest)) break;
    await tx.deleteFrom('account_arrival').where(isOldest).execute();
    begin = position;
  }
  if (begin !== undefined) await beginAfter(tx, accountReportList(accountId), begin);
}

/** `first_left` is a position in its domain's list, `newest` the account's newest. */
const oldestArrival = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account_arrival as a')
    .select(['a.position', 'a.domain_position', 'a.length'])
    .select(({ selectFrom }) => [
      selectFrom('report')
        .select('report.position')
        .whereRef('report.domain_id', '=', 'a.domain_id')
        .where(sql<boolean>`report.position > a.domain_position - a.length`)
        .whereRef('report.position', '<=', 'a.domain_position')
        .orderBy('report.position')
        .limit(1)
        .as('first_left'),
      selectFrom('account')
        .select('reports_position')
        .whereRef('account.id', '=', 'a.account_id')
        .as('newest'),
    ])
    .where('a.account_id', '=', param('accountId'))
    .orderBy('a.position')
    .limit(1),
);
