import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { accountReportList, itemUpserts } from '../lists/timeline.ts';

/*
 * The list of the reports of an account's active domains. It has a position for each position of a domain's list, given by
 * `account_arrival`: a row says which positions of a domain have which of the account. What the same domain stores next
 * makes the row longer. So reports have no second position, and the account's row is locked only when a transaction ends,
 * after those of domains (decision 64).
 */

/**
 * A longer row is not made longer: on PostgreSQL a page of a followed list sorts the reports of the rows that it is in.
 */
const MAX_LENGTH = 50;

/** What a transaction adds to the list: the reports of one domain, the last of which has `domain_position`. */
export interface Arrived {
  readonly domainSeq: number;
  readonly domainPosition: number;
  readonly days: ReadonlyMap<Day, number>;
  readonly reports: number;
}

interface ArrivedAtAccount {
  readonly accountId: string;
  readonly accountSeq: number;
  readonly arrived: readonly Arrived[];
  readonly nonce: string;
  /** Whether the account's list of domains shows a change as well. */
  readonly isListChanged: boolean;
}

/** Statements for one account, in the order in which they must run. */
export function addArrivals({
  accountId,
  accountSeq,
  arrived,
  nonce,
  isListChanged,
}: ArrivedAtAccount): BoundQuery<never>[] {
  const reports = arrived.reduce((sum, one) => sum + one.reports, 0);
  const head = { accountId, reports, nonce, version: newVersion() };
  let behind = reports;
  const rows = arrived.map(({ domainSeq, domainPosition, reports: length }) => {
    behind -= length;
    const domainBegin = domainPosition - length;
    const [newest, maxLength] = [behind + length, MAX_LENGTH - length];
    return {
      accountSeq,
      domainSeq,
      domainBegin,
      domainPosition,
      length,
      behind,
      newest,
      maxLength,
    };
  });
  const domainsVersion = isListChanged ? newVersion() : null;
  return [
    headUpdate({ ...head, domainsVersion }),
    ...itemUpserts(sumDays(arrived, accountReportList(accountId))),
    // The others are of other domains than the row before.
    ...rows.slice(0, 1).map(arrivalUpdate),
    ...rows.map(arrivalInsert),
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
  readonly accountSeq: number;
  readonly domainSeq: number;
  /** The last position before these, and the last of these. */
  readonly domainBegin: number;
  readonly domainPosition: number;
  readonly length: number;
  /** Of the account's newest positions, those of other domains behind these, and how many these are with them. */
  readonly behind: number;
  readonly newest: number;
  /** The length of a row that has room for these. */
  readonly maxLength: number;
};

/** Makes the row before longer, when it is of the same domain's positions before these. */
const arrivalUpdate = prepareQuery<NewArrival, never>((db, param) =>
  db
    .updateTable('account_arrival')
    .set((eb) => ({
      position: eb('position', '+', param('length')),
      domain_position: param('domainPosition'),
      length: eb('length', '+', param('length')),
    }))
    .where('account_seq', '=', param('accountSeq'))
    .where('position', '=', ({ selectFrom }) =>
      selectFrom('account')
        .select((eb) => eb('reports_position', '-', param('newest')).as('position'))
        .where('seq', '=', param('accountSeq')),
    )
    .where('domain_seq', '=', param('domainSeq'))
    .where('domain_position', '=', param('domainBegin'))
    .where('length', '<=', param('maxLength'))
    .where('nonce', 'is', null),
);

const arrivalInsert = prepareQuery<NewArrival, never>((db, param) => {
  const { typed } = dialectOf(db);
  const position = sql<number>`reports_position - ${param('behind')}`;
  const row = db
    .selectFrom('account')
    .select(['seq as account_seq', typed(param('domainSeq'), 'bigint').as('domain_seq')])
    .select(position.as('position'))
    .select([typed(param('domainPosition'), 'bigint').as('domain_position')])
    .select([typed(param('length'), 'bigint').as('length')])
    .where('seq', '=', param('accountSeq'))
    .where(({ selectFrom, not, exists }) =>
      not(
        exists(
          selectFrom('account_arrival as a')
            .select('a.length')
            .whereRef('a.account_seq', '=', 'account.seq')
            .where('a.position', '=', position),
        ),
      ),
    );
  const columns = ['account_seq', 'domain_seq', 'position', 'domain_position', 'length'] as const;
  return db.insertInto('account_arrival').columns(columns).expression(row);
});
