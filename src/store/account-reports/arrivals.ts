import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import {
  type BoundQuery,
  type Param,
  prepareQuery,
  runAllPrepared,
  runPrepared,
} from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { beginAfter, insertGaps } from '../lists/points.ts';
import { accountReportList, itemUpserts, uncountItems } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/*
 * The list of the reports of an account's active domains. It has a position for each position of a domain's list, given by
 * `account_arrival`: a row for each domain of a transaction says which positions of the domain have which of the account.
 * So reports have no second position, and the account's row is locked only when a transaction ends, after those of
 * domains (decision 64).
 */

/** Which reports an index finds for an account. Two accounts may have the same: no list shows the other's. */
export const newListKey = (): number => randomInt(1, 2 ** 31);

/** What a transaction adds to the list: the reports of one domain, the last of which has `domain_position`. */
export interface Arrived {
  readonly domainId: string;
  readonly domainPosition: number;
  readonly days: ReadonlyMap<Day, number>;
  readonly reports: number;
}

interface ArrivedAtAccount {
  readonly accountId: string;
  readonly arrived: readonly Arrived[];
  readonly nonce: string;
  /** Whether the account's list of domains shows a change as well. */
  readonly isListChanged: boolean;
}

/** Statements for one account, in the order in which they must run. */
export function addArrivals({
  accountId,
  arrived,
  nonce,
  isListChanged,
}: ArrivedAtAccount): BoundQuery<never>[] {
  const reports = arrived.reduce((sum, one) => sum + one.reports, 0);
  const head = { accountId, reports, nonce, version: newVersion() };
  let behind = reports;
  const rows = arrived.map(({ domainId, domainPosition, reports: length }) => {
    behind -= length;
    return arrivalInsert({ accountId, domainId, domainPosition, length, behind });
  });
  const domainsVersion = isListChanged ? newVersion() : null;
  return [
    headUpdate({ ...head, domainsVersion }),
    ...itemUpserts(sumDays(arrived, accountReportList(accountId))),
    ...rows,
  ];
}

function sumDays(arrived: readonly Arrived[], listId: string) {
  const items = new Map<Day, number>();
  for (const { days } of arrived)
    for (const [day, count] of days) items.set(day, (items.get(day) ?? 0) + count);
  return [...items].map(([day, items]) => ({ listId, day, items }));
}

type NewHead = {
  readonly accountId: string;
  readonly reports: number;
  readonly nonce: string;
  readonly version: string;
  readonly domainsVersion: string | null;
};

const headUpdate = prepareQuery<NewHead, never>((db, param) =>
  db
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('reports')),
      reports_position: eb('reports_position', '+', param('reports')),
      reports_nonce: param('nonce'),
      reports_version: param('version'),
      domains_version: eb.fn.coalesce(param('domainsVersion'), 'domains_version'),
    }))
    .where('id', '=', param('accountId')),
);

type NewArrival = {
  readonly accountId: string;
  readonly domainId: string;
  readonly domainPosition: number;
  readonly length: number;
  /** Of the account's newest positions, those of other domains behind these. */
  readonly behind: number;
};

const COLUMNS = [
  'account_id',
  'domain_id',
  'position',
  'domain_position',
  'length',
  'nonce',
] as const;

const arrivalInsert = prepareQuery<NewArrival, never>((db, param) => {
  const { typed } = dialectOf(db);
  const row = db
    .selectFrom('account')
    .select(['id as account_id', typed(param('domainId'), 'uuid').as('domain_id')])
    .select((eb) => eb('reports_position', '-', param('behind')).as('position'))
    .select([typed(param('domainPosition'), 'bigint').as('domain_position')])
    .select([typed(param('length'), 'bigint').as('length'), 'reports_nonce as nonce'])
    .where('id', '=', param('accountId'));
  return db.insertInto('account_arrival').columns(COLUMNS).expression(row);
});

interface Departed {
  readonly domainId: string;
  readonly day: Day;
  /** In the domain's list. */
  readonly positions: readonly number[];
}

/** Reports of one day leave the list, when it has them. Their positions become gaps. */
export async function removeArrivals(
  tx: Tx,
  { domainId, day, positions }: Departed,
): Promise<void> {
  const accountId = await findListing(tx, domainId);
  if (accountId === undefined) return;
  const listId = accountReportList(accountId);
  await tx
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '-', positions.length),
      reports_version: newVersion(),
    }))
    .where('id', '=', accountId)
    .execute();
  await uncountItems(tx, listId, { day, items: positions.length });
  const queries = positions.map((position) => arrivalOf({ domainId, position }));
  const found = (await runAllPrepared(tx, queries)).flat();
  await insertGaps(
    tx,
    listId,
    found.map((arrival, i) => toPosition(arrival, positions[i] ?? 0)),
  );
  await forgetOldest(tx, accountId);
}

/** The account whose list has a domain's reports. */
async function findListing(tx: Tx, domainId: string): Promise<string | undefined> {
  const domain = tx.selectFrom('domain').select('account_id').where('id', '=', domainId);
  const row = await domain.where('status', '=', 'active').executeTakeFirst();
  return row?.account_id ?? undefined;
}

type Arrival = Pick<Tables['account_arrival'], 'position' | 'domain_position'>;

function toPosition(arrival: Arrival, domainPosition: number): number {
  return Number(arrival.position) - Number(arrival.domain_position) + Number(domainPosition);
}

/** The row that a position of a domain's list is in. */
const arrivalOf = prepareQuery<{ domainId: string; position: number }, Arrival>((db, param) =>
  db
    .selectFrom('account_arrival')
    .select(['position', 'domain_position'])
    .where('domain_id', '=', param('domainId'))
    .where('domain_position', '>=', param('position'))
    .orderBy('domain_position')
    .limit(1),
);

/** At most so many in one transaction: each report that goes by age is in one row. */
const FORGOTTEN_AT_ONCE = 200;

/** Rows at the beginning of the list whose reports have all gone are forgotten, with their gaps; the newest row never. */
async function forgetOldest(tx: Tx, accountId: string): Promise<void> {
  let begin: number | undefined;
  for (let rows = 0; rows < FORGOTTEN_AT_ONCE; rows += 1) {
    const [oldest] = await runPrepared(tx, emptyOldest({ accountId }));
    if (oldest === undefined) break;
    begin = Number(oldest.position);
    const row = tx.deleteFrom('account_arrival').where('account_id', '=', accountId);
    await row.where('position', '=', begin).execute();
  }
  if (begin !== undefined) await beginAfter(tx, accountReportList(accountId), begin);
}

/** The oldest row, when no report of it is left and it is not the newest. */
const emptyOldest = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('account_arrival')
        .select(['domain_id', 'position', 'domain_position', 'length'])
        .where('account_id', '=', param('accountId'))
        .orderBy('position')
        .limit(1)
        .as('a'),
    )
    .select('position')
    .where(({ selectFrom, not, exists }) =>
      not(
        exists(
          selectFrom('report')
            .select('report.seq')
            .whereRef('report.domain_id', '=', 'a.domain_id')
            .where(sql<boolean>`report.position > a.domain_position - a.length`)
            .whereRef('report.position', '<=', 'a.domain_position'),
        ),
      ),
    )
    .where(({ selectFrom, eb }) =>
      eb(
        'position',
        '<',
        selectFrom('account').select('reports_position').where('id', '=', param('accountId')),
      ),
    ),
);
