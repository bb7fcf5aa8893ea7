import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import type { DomainOfAccount } from '../lists/heads.ts';

/* What the API's answer about one domain is made of. */

export type DomainOfAccountRow = RowOfQuery<typeof domainOfAccount>;

/** No row when the account has no such domain. `dmarc_state` is JSON (domain/dns/dns-watch.ts), null where DNS was not checked. */
export const domainOfAccount = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .leftJoin('dns_record', (join) =>
      join.onRef('dns_record.domain_id', '=', 'domain.id').on('record_type', '=', 'dmarc'),
    )
    .select(['id', 'name', 'status', 'last_report_at', 'reports_version'])
    .select('dns_record.state as dmarc_state')
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

export const newestReport = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('report')
    .select(['id', 'content'])
    .where('domain_id', '=', param('domainId'))
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(1),
);
