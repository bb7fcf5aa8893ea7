import type { Instant } from '../../domain/instant.ts';
import { ask } from '../connection/plan.ts';
import { prepareColumn, prepareQuery } from '../connection/prepared.ts';
import type { Head } from '../lists/heads.ts';
import { type JsonText, jsonRow } from '../lists/json.ts';
import type { PagedList } from '../lists/page.ts';
import { findPlace, type Place } from '../lists/places.ts';
import { reportList } from '../lists/timeline.ts';

/** A report as it is listed. */
export interface ReportRow {
  readonly id: string;
  readonly reporter_org: string | null;
  readonly reporter_email: string | null;
  readonly begin_date: Instant;
  readonly end_date: Instant;
  readonly record_count: number;
  readonly total_messages: number;
  readonly aligned_messages: number;
}

type DomainOfAccount = { domainId: string; accountId: string };

const reportsHead = prepareQuery<DomainOfAccount, Head>((db, param) =>
  db
    .selectFrom('domain')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

type WantedReports = { domainId: string; limit: number } & Place;

const reportsFrom = prepareColumn<WantedReports, JsonText<ReportRow>>((db, param) =>
  db
    .selectFrom('report')
    .select(({ ref }) =>
      jsonRow({
        id: ref('id'),
        reporter_org: ref('reporter_org'),
        reporter_email: ref('reporter_email'),
        begin_date: ref('begin_date'),
        end_date: ref('end_date'),
        record_count: ref('record_count'),
        total_messages: ref('total_messages'),
        aligned_messages: ref('aligned_messages'),
      }).as('item'),
    )
    .where('domain_id', '=', param('domainId'))
    .where('begin_date', '<=', param('until'))
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(param('limit'))
    .offset(param('skip')),
);

/**
 * The reports of an account's domain, newest window first, then latest arrival. The list does not exist when
 * the account has no such domain, whether or not another account has it.
 */
export function reportsOf(domain: DomainOfAccount): PagedList<ReportRow> {
  const { domainId } = domain;
  return {
    head: reportsHead(domain),
    *readItems({ limit, offset }, { version }) {
      const place = yield* findPlace({ id: reportList(domainId), version }, offset);
      return yield* ask(reportsFrom({ domainId, limit, ...place }));
    },
  };
}
