import { expressionBuilder, type Kysely, sql } from 'kysely';
import type { ListedPolicy } from '../../domain/reports/tls-report.ts';
import { IS_UNPROVEN } from '../days/belief.ts';
import { IS_TLS } from '../days/believed.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { Filters, Wanted } from '../lists/declaration.ts';
import { declareList } from '../lists/declared.ts';
import type { FollowedList } from '../lists/followed.ts';
import { DOMAIN_ID, type DomainOfAccount, isOfDomain } from '../lists/heads.ts';
import { tlsList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';
import { REPORT_FILTERS } from './reports.ts';

export type TlsReportRow = JsonRow<ReturnType<typeof fieldsOfTls>>;

export const TLS_FILTERS = {
  ...REPORT_FILTERS,
  /** Those of which sessions failed. */
  failing: (_is: 'true') => [[['rejected', '>', 0]]],
} as const satisfies Filters;

export type TlsFilter = Wanted<typeof TLS_FILTERS>;

/** Newest window first, then latest arrival; followed by arrival, as reports are (reports.ts). */
const open = declareList({
  table: 'report',
  order: ['begin_date', 'seq'],
  key: 'seq',
  filters: TLS_FILTERS,
  scopes: {
    domain: {
      toId: ({ domainId = '' }) => tlsList(domainId),
      isOwn: (owner) => sql`(${isOfDomain(owner)} and ${IS_TLS})`,
      fields: fieldsOfTls,
      version: 'domain.tls_version',
      head: (owner) => domainHead(owner as DomainOfAccount),
    },
  },
});

/** The TLS reports of a domain. The list does not exist when the account does not have the domain. */
export const tlsReportsOf = (
  domain: DomainOfAccount,
  filter: TlsFilter = {},
): FollowedList<TlsReportRow> => open('domain', domain, filter);

/** No row when the account has no such domain. */
const domainHead = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['domain.tls_total as total', 'tls_removed as removed'])
    .select(['changes as number', 'changes_nonce as nonce'])
    .select(({ fn, selectFrom }) => [
      fn.coalesce('domain.tls_version', sql.lit('none')).as('version'),
      fn
        .coalesce(
          selectFrom('report')
            .select(({ fn }) => fn.max('seq').as('seq'))
            .where(isOfDomain(param('domainId')))
            .where(IS_TLS),
          sql.lit(0),
        )
        .as('key'),
    ])
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** A file is the operator's word; a mail proves it by a signature of the reporter's own (domain/reports/authentication.ts). */
const IS_AUTHENTICATED = sql<string>`case when ${IS_UNPROVEN} then 'false' else 'true' end`;

export function fieldsOfTls(db: Kysely<Tables>) {
  const { asInstant, asJson } = dialectOf(db);
  const { ref } = expressionBuilder<Tables, 'report'>();
  return {
    id: ref('id'),
    domain_id: DOMAIN_ID,
    reporter_org: ref('reporter_org'),
    reporter_email: ref('reporter_email'),
    begin_date: asInstant(ref('begin_date')),
    end_date: asInstant(ref('end_date')),
    successful_sessions: ref('aligned_messages'),
    failed_sessions: ref('rejected'),
    authenticated: asJson<boolean>(IS_AUTHENTICATED),
    policies: asJson<readonly ListedPolicy[]>(ref('policies').$castTo<string>()),
    revision: ref('revision'),
  };
}
