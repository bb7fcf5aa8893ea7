import { type Kysely, sql } from 'kysely';
import type { Point } from '../../domain/cursor.ts';
import { dialectOf, type JsonItem, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { FollowedItem, FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { type Head, isVersion } from '../lists/heads.ts';
import type { ItemsQuery } from '../lists/page.ts';
import { accountReportList } from '../lists/timeline.ts';
import { fieldsOfAccount } from '../reports/reports.ts';
import type { Tables } from '../tables.ts';

/* The reports of all active domains of an account, as one list. */

export type ReportOfAccountRow = JsonRow<ReturnType<typeof fieldsOfAccount>>;

const head = prepareQuery<{ accountId: string }, Head>((db, param) =>
  db
    .selectFrom('account')
    .select(['reports_total as total', 'reports_version as version'])
    .select(['reports_position as position', 'reports_nonce as nonce'])
    .select(['reports_generation as generation', 'reports_begin as begin'])
    .where('id', '=', param('accountId')),
);

type ReportsQuery = { accountId: string } & ItemsQuery;

/**
 * Reports of a domain that was paused or removed keep their `account_seq`, and those of one that joins have it before: then
 * the state of its domain is looked up for each report, also for skipped ones, which otherwise are read in the index alone. A
 * subquery of one value cannot be joined first, which would sort every report.
 */
const reportsFrom = prepareQuery<ReportsQuery, JsonItem<ReportOfAccountRow>>((db, param) =>
  dialectOf(db).jsonRows(
    db,
    db
      .selectFrom('report')
      .where('account_seq', '=', ({ selectFrom }) =>
        selectFrom('account').select('seq').where('id', '=', param('accountId')),
      )
      .where('begin_date', '<=', param('until'))
      .where(
        sql<boolean>`((select list_has_others from account where id = ${param('accountId')}) = 0
          or (select account_id = ${param('accountId')} and status = 'active'
            and unlisted_until is null from domain where domain.id = report.domain_id))`,
      )
      .where(isVersion('account.reports_version', [param('accountId'), param('version')]))
      .orderBy('report.begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(param('skip')),
    fieldsOfAccount(db),
  ),
);

type ReportsAfterQuery = { accountId: string } & ItemsAfterQuery;

const reportsAfter = prepareQuery<ReportsAfterQuery, FollowedItem<ReportOfAccountRow>>(
  (db, param) => {
    return arrivedAfter(db, param)
      .select(dialectOf(db).jsonRow(fieldsOfAccount(db)).as('item'))
      .where(isVersion('account.reports_version', [param('accountId'), param('version')]))
      .limit(param('limit'))
      .offset(param('skip'));
  },
);

type AfterQuery = { accountId: string; after: number };

const pointAfter = prepareQuery<AfterQuery, Point>((db, param) => arrivedAfter(db, param).limit(1));

/** A row's reports that are behind the position are read in their index: of the row that has it, no other. */
const arrivedAfter = <P extends AfterQuery>(db: Kysely<Tables>, param: Param<P>) =>
  db
    .selectFrom('account_arrival as a')
    .innerJoin('report', (join) =>
      join
        .on('report.domain_id', '=', ({ selectFrom }) =>
          selectFrom('domain').select('id').whereRef('seq', '=', 'a.domain_seq'),
        )
        .on(
          sql<boolean>`report.position > a.domain_position - case
            when a.position - a.length < ${param('after')} then a.position - ${param('after')}
            else a.length end`,
        )
        .onRef('report.position', '<=', 'a.domain_position'),
    )
    .select(sql<number>`a.position - a.domain_position + report.position`.as('position'))
    .select(({ fn }) => fn.coalesce('a.nonce', 'report.nonce').as('nonce'))
    .where('a.account_seq', '=', ({ selectFrom }) =>
      selectFrom('account').select('seq').where('id', '=', param('accountId')),
    )
    .where('a.position', '>', param('after'))
    .orderBy('a.position')
    .orderBy('report.position');

/** Newest window first, then latest arrival. Followed, in the order in which they came to the list. */
export function reportsOfAccount(accountId: string): FollowedList<ReportOfAccountRow> {
  return {
    id: accountReportList(accountId),
    head: head({ accountId }),
    items: (wanted) => reportsFrom({ accountId, ...wanted }),
    after: (wanted) => reportsAfter({ accountId, ...wanted }),
    point: (position) => pointAfter({ accountId, after: position - 1 }),
  };
}
