import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { addDays, type Day } from '../../domain/instant.ts';
import { DAYS_SILENT, type View } from '../../domain/reports/authentication.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';

/*
 * Which reports are believed: a domain that has an established reporter, or files, counts nothing else, so that nobody who
 * only sends mail changes a figure of it. Where there are none lately, all but disputed reports count.
 */

/** The days on which an established reporter is looked for. */
export type Lately = { since: Day; until: Day };

/** A reporter whose clock is wrong is not believed for years. `today` is the clock's: a report can move the newest day. */
export function toLately(today: Day): Lately {
  return { since: addDays(today, -DAYS_SILENT), until: addDays(today, 1) };
}

/** The view that a domain has, in a query. PostgreSQL may read all domains for `exists`; it looks up one value for each. */
export function viewOf<P extends Lately>(
  db: Kysely<Tables>,
  domainId: Expression<string>,
  param: Param<P>,
): RawBuilder<View> {
  const established = db
    .selectFrom('domain_day as late')
    .select('late.day')
    .where('late.domain_id', '=', domainId)
    .where('late.day', '>=', param('since'))
    .where('late.day', '<=', param('until'))
    .where('late.belief', '=', 'established')
    .limit(1);
  return sql<View>`case when ${established} is null then 'all' else 'established' end`;
}

/** The version of a domain's reports, and whose of them count. */
export interface ReportsState {
  readonly version: string;
  readonly reporters: View;
}

/** Throws `not_found` when the account, if one is given, has no such domain. */
export function* planState(
  of: { readonly domainId: string; readonly today: Day },
  accountId?: string,
): Plan<ReportsState> {
  const query = { domainId: of.domainId, ...toLately(of.today) };
  const own = accountId === undefined ? stateOf(query) : stateInAccount({ ...query, accountId });
  const [domain] = yield* ask(own);
  if (accountId !== undefined && domain === undefined)
    throw new Failure('not_found', 'No such domain.');
  return { version: domain?.version ?? '', reporters: domain?.reporters ?? 'all' };
}

/** Another text whenever days of a domain change, in a query of domains. */
const DAYS_VERSION = sql<string>`domain.reports_version || coalesce(domain.days_version, '')`;

/**
 * Another text whenever days of a domain change, or what its senders are judged by: an organisation that has another domain of the
 * account is the owner's.
 */
export const JUDGED_VERSION = sql<string>`${DAYS_VERSION} || coalesce(
    (select names_version from account where account.id = domain.account_id), '')`;

type OfDomain = Lately & { readonly domainId: string };

/** The state of a domain, whoever has it. */
export const stateOf = prepareQuery((db, param: Param<OfDomain>) => selectState(db, param));

/** No row when the account has no such domain. */
export const stateInAccount = prepareQuery((db, param: Param<OfDomain & DomainOfAccount>) =>
  selectState(db, param).where('account_id', '=', param('accountId')),
);

function selectState<P extends OfDomain>(db: Kysely<Tables>, param: Param<P>) {
  return db
    .selectFrom('domain')
    .select([JUDGED_VERSION.as('version'), 'name as domain', 'id', 'status', 'alerts_version'])
    .select('tls_version')
    .select(viewOf(db, param('domainId'), param).as('reporters'))
    .where('id', '=', param('domainId'));
}

/** What a view counts, in a query of `domain_day`. */
export const isInView = (view: Expression<View>): RawBuilder<SqlBool> =>
  sql<SqlBool>`(belief = 'established' or (belief = 'other' and ${view} = 'all'))`;

/** The first and the newest day that counts, in a query of domains: each a look-up, where SQLite would read all days for both. */
export function dataDaysOf(db: Kysely<Tables>, view: Expression<View>) {
  const days = db.selectFrom('domain_day').where('domain_id', '=', sql.ref<string>('domain.id'));
  const counted = days.where(isInView(view));
  return [
    counted.select(({ fn }) => fn.min('day').as('day')).as('oldest'),
    counted.select(({ fn }) => fn.max('day').as('day')).as('newest'),
  ] as const;
}

/** Whether a report is one that lists, heads and days are of, in a query of reports: not one about TLS. */
export const IS_DMARC = sql<SqlBool>`report.kind is null`;

/** Whether a report is one about TLS. The indexes of them have the same condition. */
export const IS_TLS = sql<SqlBool>`kind = 'tls'`;

export type DaysQuery = { domainId: string; from: Day; to: Day; view: View };

/** The rows of a range of days that a view counts. */
export function selectDays<P extends DaysQuery>(db: Kysely<Tables>, param: Param<P>) {
  return selectRange(db, param).where(isInView(param('view')));
}

function selectRange<P extends DaysQuery>(db: Kysely<Tables>, param: Param<P>) {
  return db
    .selectFrom('domain_day')
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'));
}

/** What a view leaves out of a range, which is shown apart; and `unproven`, the reports that it counts of no established reporter. */
export const asideOf = prepareQuery((db, param: Param<DaysQuery>) => {
  const isCounted = isInView(param('view'));
  const isAside = sql<SqlBool>`not ${isCounted}`;
  return selectRange(db, param)
    .where('belief', '<>', 'established')
    .select([sumOf('reports', isAside).as('reports'), sumOf('messages', isAside).as('messages')])
    .select(sumOf('reports', isCounted).as('unproven'));
});

export type Aside = Readonly<RowOfQuery<typeof asideOf>>;
