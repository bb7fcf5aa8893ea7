import { type Expression, expressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { type DomainOfAccount, isVersion } from '../lists/heads.ts';
import type { ItemsQuery, PagedList } from '../lists/page.ts';
import { accountReportList, reportList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ReportRow = JsonRow<ReturnType<typeof fieldsOf>>;

/** No row when the account has no such domain. */
const reportsHead = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['domain.reports_total as total', 'domain.reports_version as version'])
    .select(['reports_removed as removed', 'changes as number', 'changes_nonce as nonce'])
    .select(({ fn, selectFrom }) =>
      fn
        .coalesce(
          selectFrom('report')
            .select(({ fn }) => fn.max('seq').as('seq'))
            .whereRef('domain_id', '=', 'domain.id'),
          sql.lit(0),
        )
        .as('key'),
    )
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Newest window first, then latest arrival. */
function selectReports(
  db: Kysely<Tables>,
  param: Param<ItemsQuery>,
  isCurrent: Expression<SqlBool>,
) {
  return (
    db
      .selectFrom('report')
      .where('begin_date', '<=', param('until'))
      .where(isCurrent)
      // With the table's name: alone it would be the field of the JSON, which PostgreSQL has no index of.
      .orderBy('report.begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(param('skip'))
  );
}

const reportsFrom = prepareQuery((db, param: Param<{ domainId: string } & ItemsQuery>) => {
  const isCurrent = isVersion('domain.reports_version', [param('domainId'), param('version')]);
  const reports = selectReports(db, param, isCurrent).where('domain_id', '=', param('domainId'));
  return dialectOf(db).jsonRows(db, reports, fieldsOf(db));
});

const reportsAfter = prepareQuery((db, param: Param<{ domainId: string } & ItemsAfterQuery>) =>
  db
    .selectFrom('report')
    .select([dialectOf(db).jsonRow(fieldsOf(db)).as('item'), 'seq as key'])
    .where('domain_id', '=', param('domainId'))
    .where('seq', '>', param('after'))
    .where(isVersion('domain.reports_version', [param('domainId'), param('version')]))
    .orderBy('seq')
    .limit(param('limit'))
    .offset(param('skip')),
);

export function fieldsOfAccount(db: Kysely<Tables>) {
  const { ref } = expressionBuilder<Tables, 'report'>();
  const { id, ...others } = fieldsOf(db);
  // With the table's name, for a join with another that has such a column.
  return { id, domain_id: ref('report.domain_id'), ...others, revision: ref('revision') };
}

function fieldsOf(db: Kysely<Tables>) {
  const { asInstant } = dialectOf(db);
  const { ref } = expressionBuilder<Tables, 'report'>();
  return {
    id: ref('id'),
    reporter_org: ref('reporter_org'),
    reporter_email: ref('reporter_email'),
    begin_date: asInstant(ref('begin_date')),
    end_date: asInstant(ref('end_date')),
    record_count: ref('record_count'),
    total_messages: ref('total_messages'),
    aligned_messages: ref('aligned_messages'),
  };
}

/** The reports of all active domains of an account, as one list (account-lists.ts). */
export function reportsOfAccount(accountId: string): PagedList<ReportOfAccountRow> {
  return {
    days: accountReportList(accountId),
    head: accountHead({ accountId }),
    items: (wanted) => reportsOfAccountFrom({ accountId, ...wanted }),
  };
}

export type ReportOfAccountRow = JsonRow<ReturnType<typeof fieldsOfAccount>>;

const accountHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('accountId')),
);

const reportsOfAccountFrom = prepareQuery(
  (db, param: Param<{ accountId: string } & ItemsQuery>) => {
    const isCurrent = isVersion('account.reports_version', [param('accountId'), param('version')]);
    const account = db.selectFrom('account').select('seq').where('id', '=', param('accountId'));
    const reports = selectReports(db, param, isCurrent).where('account_seq', '=', account);
    return dialectOf(db).jsonRows(db, reports, fieldsOfAccount(db));
  },
);

/** The newest of them distinguishes two states, with its transaction's nonce. */
const countAfter = prepareQuery((db, param: Param<{ domainId: string; after: number }>) =>
  db
    .selectFrom('report')
    .select(({ fn, selectFrom }) => [
      fn.countAll<number>().as('total'),
      selectFrom('report as newest')
        .select(sql<string>`newest.seq || '.' || newest.nonce`.as('state'))
        .where('newest.domain_id', '=', param('domainId'))
        .orderBy('newest.seq', 'desc')
        .limit(1)
        .as('state'),
    ])
    .where('domain_id', '=', param('domainId'))
    .where('seq', '>', param('after')),
);

/**
 * Newest window first, then latest arrival. Followed, in the order of their arrival: a report that was corrected comes
 * where it was corrected. The list does not exist when the account does not have the domain.
 */
export function reportsOf(domain: DomainOfAccount): FollowedList<ReportRow> {
  const { domainId, accountId } = domain;
  return {
    id: reportList(domainId),
    days: reportList(domainId),
    accountId,
    head: reportsHead(domain),
    items: (wanted) => reportsFrom({ domainId, ...wanted }),
    after: (wanted) => reportsAfter({ domainId, ...wanted }),
    countAfter: (after) => countAfter({ domainId, after }),
  };
}
