import {
  type AliasableExpression,
  expressionBuilder,
  type Kysely,
  type SelectQueryBuilder,
  sql,
} from 'kysely';
import { BEGIN_OF_TIME, type Day, END_OF_TIME, type Instant, toDay } from '../../domain/instant.ts';
import { toReporterKey } from '../../domain/reports/reporters.ts';
import { dialectOf, type JsonFields, type JsonRow, type JsonText } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { nonceOf, toFilteredId, versionOf } from '../lists/filtered.ts';
import type { FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { type DomainOfAccount, isVersion } from '../lists/heads.ts';
import type { ItemsQuery, PagedList } from '../lists/page.ts';
import { accountReportList, daysOf, reportDaysOf, reportList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/** Which reports a list has; all where nothing is given. */
export interface ReportFilter {
  /** The first and the last day on which their windows begin. */
  readonly from?: Day | undefined;
  readonly until?: Day | undefined;
  /** A name of the reporter, whole: its organisation, or the domain of its e-mail address. */
  readonly reporter?: string | undefined;
}

export type ReportRow = JsonRow<ReturnType<typeof fieldsOf>>;
export type ReportOfAccountRow = JsonRow<ReturnType<typeof fieldsOfAccount>>;

/** A filter as queries take it. */
type Filtered = {
  readonly list: string;
  readonly from: Day;
  readonly to: Day;
  /** The same as instants. */
  readonly since: Instant;
  readonly last: Instant;
  /** The key of the reporter's name, which a part of the list has; 0 without. */
  readonly part: number;
};

function toFiltered(whole: string, { from, until, reporter }: ReportFilter): Filtered {
  const part = reporter === undefined ? 0 : toReporterKey(reporter);
  const list = toFilteredId(whole, { from, until, reporter: reporter && part });
  const days = { from: from ?? toDay(BEGIN_OF_TIME), to: until ?? toDay(END_OF_TIME) };
  const [since, last] = [`${days.from}T00:00:00Z`, `${days.to}T23:59:59Z`];
  return { list, ...days, since, last, part };
}

type Owner = 'domain' | 'account';
type OwnQuery = { readonly owner: string };
type FilteredQuery = OwnQuery & Filtered;

function selectOwn<P extends OwnQuery>(db: Kysely<Tables>, param: Param<P>, owner: Owner) {
  const reports = db.selectFrom('report');
  if (owner === 'domain') return reports.where('domain_id', '=', param('owner'));
  const account = db.selectFrom('account').select('seq').where('id', '=', param('owner'));
  return reports.where('account_seq', '=', account);
}

/** Those whose window begins in a range. */
function selectReports<P extends FilteredQuery>(db: Kysely<Tables>, param: Param<P>, owner: Owner) {
  return selectOwn(db, param, owner)
    .where('begin_date', '>=', param('since'))
    .where('begin_date', '<=', param('last'));
}

/** Where those are that have a name: each is in one of two indexes, which have all that is read here. */
function selectNamed<P extends FilteredQuery>(
  db: Kysely<Tables>,
  param: Param<P>,
  { owner, toPart = (places) => places }: { readonly owner: Owner; readonly toPart?: ToPart },
) {
  const ofName = (name: 'reporter' | 'reporter_host') => {
    const named = selectReports(db, param, owner).where(name, '=', param('part'));
    const part = toPart(named.select(['begin_date', 'seq']));
    return db.selectFrom(part.as('part')).select(['begin_date', 'seq']);
  };
  return ofName('reporter').unionAll(ofName('reporter_host'));
}

type Place = { readonly begin_date: Instant; readonly seq: number };
type Places = SelectQueryBuilder<Tables, 'report', Place>;
type ToPart = (places: Places) => Places;

/** Newest window first, then latest arrival. */
const inOrder = <O>(reports: SelectQueryBuilder<Tables, 'report', O>) =>
  // With the table's name: alone it would be the field of the JSON, which PostgreSQL has no index of.
  reports.orderBy('report.begin_date', 'desc').orderBy('seq', 'desc');

/** The reports at the places of a page, in its order. Only they are read: what a page skips is not. */
function selectAt<P extends FilteredQuery & { readonly version: string }, F extends JsonFields>(
  db: Kysely<Tables>,
  param: Param<P>,
  {
    page,
    owner,
    fields,
  }: { readonly page: AliasableExpression<Place>; readonly owner: Owner; readonly fields: F },
) {
  const report = selectOwn(db, param, owner)
    .where('begin_date', '=', sql.ref<Instant>('page.begin_date'))
    .where('seq', '=', sql.ref<number>('page.seq'))
    .select(dialectOf(db).jsonRow(fields).as('item'));
  return db
    .selectFrom(page.as('page'))
    .select([sql<JsonText<JsonRow<F>>>`${report}`.as('item'), 'page.seq as key'])
    .where(isVersion(`${owner}.reports_version`, [param('owner'), param('version')]));
}

function prepareItems<F extends JsonFields>(owner: Owner, toFields: (db: Kysely<Tables>) => F) {
  type Wanted = FilteredQuery & ItemsQuery;
  const all = prepareQuery((db, param: Param<Wanted>) => {
    const reports = selectReports(db, param, owner).where(
      isVersion(`${owner}.reports_version`, [param('owner'), param('version')]),
    );
    const page = inOrder(reports).limit(param('limit')).offset(param('skip'));
    return dialectOf(db).jsonRows(db, page, toFields(db));
  });
  const named = prepareQuery((db, param: Param<Wanted>) => {
    const { typed } = dialectOf(db);
    const [skip, limit] = [typed(param('skip'), 'bigint'), typed(param('limit'), 'bigint')];
    // PostgreSQL would read all that have the name: each part ends where the page does.
    const toPart: ToPart = (places) => inOrder(places).limit(sql<number>`${skip} + ${limit}`);
    const page = selectNamed(db, param, { owner, toPart })
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit)
      .offset(skip);
    return selectAt(db, param, { page, owner, fields: toFields(db) });
  });
  return (of: FilteredQuery, { until, ...wanted }: ItemsQuery) => {
    const query = of.part === 0 ? all : named;
    return query({ ...of, ...wanted, until, last: until < of.last ? until : of.last });
  };
}

const ITEMS = {
  ofDomain: prepareItems('domain', fieldsOf),
  ofDomainInAccount: prepareItems('domain', fieldsOfAccount),
  ofAccount: prepareItems('account', fieldsOfAccount),
};

/** No row when the account has no such domain. */
const domainHead = prepareQuery(selectDomainHead);

function selectDomainHead<P extends DomainOfAccount>(db: Kysely<Tables>, param: Param<P>) {
  return db
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['domain.reports_total as total', 'domain.reports_version as version'])
    .select(['reports_removed as removed', 'changes as number', 'changes_nonce as nonce', 'status'])
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
    .where('account_id', '=', param('accountId'));
}

const FILTERED_HEAD = { ofDays: prepareFilteredHead(false), named: prepareFilteredHead(true) };

/** Counts days, or the reports of a reporter. Their newest one may be of another day that it came with. */
function prepareFilteredHead(isNamed: boolean) {
  return prepareQuery((db, param: Param<FilteredQuery & DomainOfAccount & OfStatus>) => {
    const counted = isNamed
      ? db
          .selectFrom(selectNamed(db, param, { owner: 'domain' }).as('named'))
          .select(({ fn }) => [
            fn.countAll<number>().as('counted'),
            fn.max<number | null>('seq').as('newest'),
          ])
      : db
          .selectFrom('domain_day')
          .select(({ fn }) => [
            fn.sum<number | null>('reports').as('counted'),
            fn.max<number | null>('newest').as('newest'),
          ])
          .where('domain_id', '=', param('owner'))
          .where('day', '>=', param('from'))
          .where('day', '<=', param('to'));
    const head = db
      .selectFrom([selectDomainHead(db, param).as('whole'), counted.as('sum')])
      .selectAll('whole')
      .select(
        sql<number>`case when status = 'active' or ${param('isOfActive')} = 0
          then coalesce(counted, 0) else 0 end`.as('listed'),
      )
      .select(({ fn }) => fn.coalesce('newest', sql.lit(0)).as('newest'))
      .as('head');
    return db
      .selectFrom(head)
      .select(['listed as total', 'version as whole', 'removed', 'number', 'head.nonce'])
      .select(['key', 'status'])
      .select(({ ref, fn, selectFrom }) => {
        const found = selectFrom('report')
          .select('report.nonce')
          .where('domain_id', '=', param('owner'))
          .whereRef('report.seq', '=', 'head.newest');
        // It may have been removed since.
        const nonce = fn.coalesce(found, 'head.version');
        const [total, removed] = [ref('listed'), ref('removed')];
        const newest = sql<number>`case when listed = 0 then 0 else newest end`;
        const state = { list: param('list'), total, newest, nonce, removed };
        return versionOf(db, state).as('version');
      });
  });
}

type AfterQuery = FilteredQuery & { readonly after: number };

/** Where those are that arrived after a cursor; a range of days is no reason to read all of its reports. */
function selectArrived<P extends AfterQuery>(db: Kysely<Tables>, param: Param<P>, kind: Kind) {
  // Not `= 1`: PostgreSQL would expect few of them, read all that arrived, and sort them.
  const isInRange = sql<number>`case when begin_date >= ${param('since')}
    and begin_date <= ${param('last')} then 1 else 0 end`;
  // With a plus, which has no index: SQLite would read all that arrived, for their order.
  const places =
    kind === 'named'
      ? db
          .selectFrom(selectNamed(db, param, { owner: 'domain' }).as('named'))
          .select(['begin_date', sql<number>`+seq`.as('seq')])
      : selectOwn(db, param, 'domain').select(['begin_date', 'seq']);
  return db
    .selectFrom(places.as('place'))
    .where('seq', '>', param('after'))
    .$if(kind === 'ranged', (arrived) => arrived.where(isInRange, '<>', 0));
}

type Kind = 'all' | 'ranged' | 'named';

const AFTER = {
  all: prepareAfter('all'),
  ranged: prepareAfter('ranged'),
  named: prepareAfter('named'),
};

function prepareAfter(kind: Kind) {
  return {
    items: prepareQuery((db, param: Param<FilteredQuery & ItemsAfterQuery>) =>
      selectAt(db, param, {
        page: selectArrived(db, param, kind)
          .select(['begin_date', 'seq'])
          .orderBy('seq')
          .limit(param('limit'))
          .offset(param('skip')),
        owner: 'domain',
        fields: fieldsOf(db),
      }),
    ),
    /** The newest of them distinguishes two states, with its transaction's nonce. */
    count: prepareQuery((db, param: Param<AfterQuery>) =>
      db
        .selectFrom(
          selectArrived(db, param, kind)
            .select(({ fn }) => [fn.countAll<number>().as('total'), fn.max('seq').as('newest')])
            .as('arrived'),
        )
        .select(({ selectFrom }) => [
          'total',
          selectFrom('report')
            .select(sql<string>`report.seq || '.' || report.nonce`.as('state'))
            .where('domain_id', '=', param('owner'))
            .whereRef('report.seq', '=', 'arrived.newest')
            .as('state'),
        ]),
    ),
  };
}

export function fieldsOfAccount(db: Kysely<Tables>) {
  const { ref } = expressionBuilder<Tables, 'report'>();
  const { id, ...others } = fieldsOf(db);
  // With the table's name, for a join with another that has such a column.
  return { id, domain_id: ref('report.domain_id'), ...others };
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
    revision: ref('revision'),
  };
}

/**
 * Newest window first, then latest arrival. Followed, in the order of their arrival: a report that was corrected comes
 * where it was corrected. The list does not exist when the account does not have the domain.
 */
export function reportsOf(
  domain: DomainOfAccount,
  filter: ReportFilter = {},
): FollowedList<ReportRow> {
  const { domainId: owner, accountId } = domain;
  const whole = reportList(owner);
  const filtered = toFiltered(whole, filter);
  const { list: id, part, from, to } = filtered;
  const of = { owner, ...filtered };
  const kind = part !== 0 ? 'named' : id === whole ? 'all' : 'ranged';
  return {
    id,
    ...(part === 0 && { days: reportDaysOf(owner, { from, to }) }),
    accountId,
    head: kind === 'all' ? domainHead(domain) : toFilteredHead(domain, { ...of, isOfActive: 0 }),
    items: (wanted) => ITEMS.ofDomain(of, wanted),
    after: (wanted) => AFTER[kind].items({ ...of, ...wanted }),
    countAfter: (after) => AFTER[kind].count({ ...of, after }),
  };
}

/** Whether nothing is listed of a paused domain. */
type OfStatus = { readonly isOfActive: 0 | 1 };

const toFilteredHead = (domain: DomainOfAccount, of: FilteredQuery & OfStatus) =>
  FILTERED_HEAD[of.part === 0 ? 'ofDays' : 'named']({ ...domain, ...of });

/** The reports of all active domains of an account, as one list (account-lists.ts). */
export function reportsOfAccount(
  accountId: string,
  filter: ReportFilter = {},
): PagedList<ReportOfAccountRow> {
  const whole = accountReportList(accountId);
  const filtered = toFiltered(whole, filter);
  const { list, part, from, to } = filtered;
  const of = { owner: accountId, ...filtered };
  return {
    days: daysOf(whole, { part, from, to }),
    head: list === whole ? accountHead({ accountId }) : filteredAccountHead({ ...of, whole }),
    items: (wanted) => ITEMS.ofAccount(of, wanted),
  };
}

/**
 * Those of one of its domains: all that the domain has, or none while it is paused. The list does not exist when the account
 * does not have the domain.
 */
export function reportsInAccount(
  domain: DomainOfAccount,
  filter: ReportFilter,
): PagedList<ReportOfAccountRow> {
  const { domainId: owner, accountId } = domain;
  const of = { owner, ...toFiltered(`${accountReportList(accountId)}.${owner}`, filter) };
  const { part, from, to } = of;
  return {
    ...(part === 0 && { days: reportDaysOf(owner, { from, to }) }),
    head: toFilteredHead(domain, { ...of, isOfActive: 1 }),
    items: (wanted) => ITEMS.ofDomainInAccount(of, wanted),
  };
}

const accountHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('accountId')),
);

/** The days of the list, or of its part, have how many there are, and which change came last. */
const filteredAccountHead = prepareQuery((db, param: Param<FilteredQuery & { whole: string }>) => {
  const counted = db
    .selectFrom('list_day')
    .select(({ fn, lit }) => [
      fn.coalesce(fn.sum<number>('items'), lit(0)).as('total'),
      fn.coalesce(fn.max('newest'), lit(0)).as('newest'),
    ])
    .where('list_id', '=', param('whole'))
    .where('part', '=', param('part'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .as('counted');
  return db
    .selectFrom(['account', counted])
    .select(['total', 'reports_version as whole'])
    .select(({ ref }) => {
      const [total, newest] = [ref('counted.total'), ref('counted.newest')];
      const nonce = nonceOf(db, ref('account.seq'), newest);
      return versionOf(db, { list: param('list'), total, newest, nonce }).as('version');
    })
    .where('account.id', '=', param('owner'));
});
