import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { isVersion } from '../lists/heads.ts';
import type { ItemsQuery, PagedList } from '../lists/page.ts';
import { accountReportList } from '../lists/timeline.ts';
import { fieldsOfAccount } from './reports.ts';

/* The reports of all active domains of an account, as one list (account-lists.ts). */

export type ReportOfAccountRow = JsonRow<ReturnType<typeof fieldsOfAccount>>;

const head = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('accountId')),
);

const reportsFrom = prepareQuery((db, param: Param<{ accountId: string } & ItemsQuery>) =>
  dialectOf(db).jsonRows(
    db,
    db
      .selectFrom('report')
      .where('account_seq', '=', ({ selectFrom }) =>
        selectFrom('account').select('seq').where('id', '=', param('accountId')),
      )
      .where('begin_date', '<=', param('until'))
      .where(isVersion('account.reports_version', [param('accountId'), param('version')]))
      .orderBy('report.begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(param('skip')),
    fieldsOfAccount(db),
  ),
);

/** Newest window first, then latest arrival. */
export function reportsOfAccount(accountId: string): PagedList<ReportOfAccountRow> {
  return {
    days: accountReportList(accountId),
    head: head({ accountId }),
    items: (wanted) => reportsFrom({ accountId, ...wanted }),
  };
}
