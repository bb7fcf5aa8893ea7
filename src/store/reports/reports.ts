import { expressionBuilder, type Kysely, sql } from 'kysely';
import { BEGIN_OF_TIME, type Day, END_OF_TIME, toDay } from '../../domain/instant.ts';
import { toReporterKey } from '../../domain/reports/reporters.ts';
import { IS_DMARC } from '../days/believed.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { Filters, Owner, Scope, Wanted } from '../lists/declaration.ts';
import { declareList } from '../lists/declared.ts';
import type { FollowedList } from '../lists/followed.ts';
import { DOMAIN_ID, type DomainOfAccount, isOfDomain } from '../lists/heads.ts';
import type { PagedList } from '../lists/page.ts';
import { accountReportList, listDaysOf, reportDaysOf, reportList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ReportItem = JsonRow<ReturnType<typeof fieldsOf>>;
export type ReportOfAccountRow = JsonRow<ReturnType<typeof fieldsOfAccount>>;

export const REPORT_FILTERS = {
  /** The first and the last day on which their windows begin. */
  from: (day: Day) => [[['begin_date', '>=', `${day}T00:00:00Z`]]],
  until: (day: Day) => [[['begin_date', '<=', `${day}T23:59:59Z`]]],
  /** A name of the reporter, whole: its organisation, or the domain of its e-mail address, where that has another key. */
  reporter: (name: string) => {
    const key = toReporterKey(name);
    return [[['reporter', '=', key]], [['reporter_host', '=', key]]];
  },
} as const satisfies Filters;

export type ReportFilter = Wanted<typeof REPORT_FILTERS>;
type ReportScope = Scope<typeof REPORT_FILTERS>;

const toDays = ({ from, until }: ReportFilter) => ({
  from: from ?? toDay(BEGIN_OF_TIME),
  to: until ?? toDay(END_OF_TIME),
});

/** Newest window first, then latest arrival; followed by arrival: a report that was corrected comes where it was corrected. */
const open = declareList({
  table: 'report',
  order: ['begin_date', 'seq'],
  key: 'seq',
  filters: REPORT_FILTERS,
  scopes: {
    domain: ofDomain({
      toId: ({ domainId = '' }) => reportList(domainId),
      fields: fieldsOf,
      head: (owner) => domainHead(owner as DomainOfAccount),
    }),
    /** All that the domain has, or none while it is paused, which its version does not say. */
    domainInAccount: ofDomain({
      toId: ({ accountId, domainId }) => `${accountReportList(accountId)}.${domainId}`,
      fields: fieldsOfAccount,
      head: (owner) => activeHead(owner as DomainOfAccount),
      isPart: true,
    }),
    account: {
      toId: ({ accountId }) => accountReportList(accountId),
      isOwn: (owner) => sql`account_seq = (select seq from account where id = ${owner})`,
      fields: fieldsOfAccount,
      version: 'account.reports_version',
      head: ({ accountId }) => accountHead({ accountId }),
      days: ({ accountId }, { reporter, ...days }) =>
        listDaysOf(accountReportList(accountId), {
          ...toDays(days),
          part: reporter === undefined ? 0 : toReporterKey(reporter),
        }),
    },
  },
});

function ofDomain(own: Omit<ReportScope, 'isOwn' | 'version' | 'days'>): ReportScope {
  return {
    ...own,
    isOwn: (owner) => sql`(${isOfDomain(owner)} and ${IS_DMARC})`,
    version: 'domain.reports_version',
    days: ({ domainId = '' }: Owner, { reporter, ...days }) =>
      reporter === undefined ? reportDaysOf(domainId, toDays(days)) : undefined,
  };
}

/** The list does not exist when the account does not have the domain. */
export const reportsOf = (
  domain: DomainOfAccount,
  filter: ReportFilter = {},
): FollowedList<ReportItem> => open('domain', domain, filter);

/** The reports of all active domains of an account, as one list (account-lists.ts). */
export const reportsOfAccount = (
  accountId: string,
  filter: ReportFilter = {},
): PagedList<ReportOfAccountRow> => open('account', { accountId }, filter);

/** Those of one of its domains. The list does not exist when the account does not have the domain. */
export const reportsInAccount = (
  domain: DomainOfAccount,
  filter: ReportFilter = {},
): PagedList<ReportOfAccountRow> => open('domainInAccount', domain, filter);

/** No row when the account has no such domain. */
const domainHead = prepareQuery(selectHead);

function selectHead<P extends DomainOfAccount>(db: Kysely<Tables>, param: Param<P>) {
  return db
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['domain.reports_total as total', 'domain.reports_version as version'])
    .select(['reports_removed as removed', 'changes as number', 'changes_nonce as nonce'])
    .select(({ fn, selectFrom }) =>
      fn
        .coalesce(
          selectFrom('report')
            .select(({ fn }) => fn.max('seq').as('seq'))
            .where(isOfDomain(param('domainId')))
            .where(IS_DMARC),
          sql.lit(0),
        )
        .as('key'),
    )
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId'));
}

const activeHead = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .select(sql<number>`case when status = 'active' then reports_total else 0 end`.as('total'))
    .select('reports_version as version')
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

const accountHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('accountId')),
);

export function fieldsOfAccount(db: Kysely<Tables>) {
  const { id, ...others } = fieldsOf(db);
  return { id, domain_id: DOMAIN_ID, ...others };
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
