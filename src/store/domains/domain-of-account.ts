import type { Instant } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { BELIEF, DAYS_VERSION, isInView, type Lately, viewOf } from '../days/believed.ts';
import { planNewestDay, toBounds } from '../days/views.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';

/* What the API's answer about one domain is made of. */

export type DomainOfAccountRow = RowOfQuery<typeof domainOfAccount>;

/** No row when the account has no such domain. `dmarc_state` is JSON (domain/dns/dns-watch.ts), null where DNS was not checked. */
export const domainOfAccount = prepareQuery((db, param: Param<DomainOfAccount & Lately>) =>
  db
    .selectFrom('domain')
    .leftJoin('dns_record', (join) =>
      join.onRef('dns_record.domain_id', '=', 'domain.id').on('record_type', '=', 'dmarc'),
    )
    .select(['id', 'name', 'status', 'last_report_at', 'alerts_version'])
    .select(DAYS_VERSION.as('version'))
    .select('dns_record.state as dmarc_state')
    .select(viewOf(db, param('domainId'), param).as('reporters'))
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

export type NewestReport = RowOfQuery<typeof newestReport>;

/** The newest report that a view counts; undefined when there is none. */
export function* planNewestReport(of: { domainId: string; view: View }) {
  const day = yield* planNewestDay(of);
  return day === undefined ? undefined : (yield* ask(newestReport({ ...of, ...toBounds(day) })))[0];
}

const newestReport = prepareQuery(
  (db, param: Param<{ domainId: string; view: View; first: Instant; last: Instant }>) =>
    db
      .selectFrom('report')
      .select(['id', 'content'])
      .where('domain_id', '=', param('domainId'))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(isInView(param('view'), BELIEF))
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(1),
);
