import { sql } from 'kysely';
import type { Point } from '../../domain/cursor.ts';
import type { Day } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { touchReportList } from '../lists/heads.ts';
import { insertGaps, insertPoint, newNonce, pointInserts } from '../lists/points.ts';
import { accountReportList, countItems } from '../lists/timeline.ts';
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
  const listing = await findListing(tx, domainId);
  if (listing === undefined) return;
  const { accountId, ...seqs } = listing;
  const listId = accountReportList(accountId);
  await touchReportList(tx, { table: 'account', id: accountId }, -points.length);
  await countItems(tx, listId, new Map([[day, -points.length]]));
  const queries = points.map(({ position }) => arrivalOf({ ...seqs, position }));
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
  const behind = arrival.domain_position - position;
  return { position: arrival.position - behind, nonce };
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

/** The list begins with the first row that has a report. The newest row stays, also without reports. */
async function beginLater(tx: Tx, { accountId, accountSeq }: Listing): Promise<void> {
  let begin: number | undefined;
  for (let rows = 0; rows < ROWS_AT_ONCE; rows += 1) {
    const [oldest] = await runPrepared(tx, oldestArrival({ accountSeq, after: begin ?? 0 }));
    if (oldest === undefined || oldest.report !== null) break;
    begin = oldest.position;
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

/** With a report that it has. Never the newest. */
const oldestArrival = prepareQuery((db, param: Param<OldestQuery>) =>
  db
    .selectFrom('account_arrival as a')
    .innerJoin('account', 'account.seq', 'a.account_seq')
    .select('a.position')
    .select(({ selectFrom }) =>
      selectFrom('report')
        .select('report.seq')
        .where('report.domain_id', '=', (eb) =>
          eb.selectFrom('domain').select('id').whereRef('seq', '=', 'a.domain_seq'),
        )
        .where(sql<boolean>`report.position > a.domain_position - a.length`)
        .whereRef('report.position', '<=', 'a.domain_position')
        .limit(1)
        .as('report'),
    )
    .where('a.account_seq', '=', param('accountSeq'))
    .where('a.position', '>', param('after'))
    .whereRef('a.position', '>', 'account.reports_begin')
    .whereRef('a.position', '<', 'account.reports_position')
    .orderBy('a.position')
    .limit(1),
);

/** Of each table, in one transaction. */
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * Rows before the beginning of an account's list, which nobody reads. What is left when this is interrupted goes
 * with the next that goes.
 */
export async function forgetRows(db: Db, accountId: string): Promise<void> {
  while (await db.write((tx) => forgetSome(tx, accountId)));
}

/** Returns whether some may be left. */
async function forgetSome(tx: Tx, accountId: string): Promise<boolean> {
  const listId = accountReportList(accountId);
  const account = sql`from account where id = ${accountId}`;
  let isMore = false;
  for (const [table, column, owner] of [
    ['account_arrival', 'account_seq', sql`(select seq ${account})`],
    ['list_gap', 'list_id', listId],
    ['list_point', 'list_id', listId],
  ] as const) {
    const before = sql`${sql.ref(column)} = ${owner} and position < (select reports_begin ${account})`;
    const some = sql`select position from ${sql.table(table)} where ${before}
      order by position limit ${FORGOTTEN_AT_ONCE}`;
    const { numAffectedRows } = await sql`delete from ${sql.table(table)}
      where ${before} and position in (${some})`.execute(tx);
    isMore ||= Number(numAffectedRows) === FORGOTTEN_AT_ONCE;
  }
  return isMore;
}
