import { Failure } from '../../domain/failure.ts';
import type { Day } from '../../domain/instant.ts';
import type { AlertRow } from '../alerts/alerts.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import type { Page } from '../lists/page.ts';
import type { DomainRow } from './domains.ts';

/** The totals of a domain's reports of one day. */
export interface DayRow {
  readonly domain_id: string;
  readonly day: Day;
  readonly messages: number;
  readonly aligned: number;
}

/** An open alert, with the name of its domain. */
export type OpenAlertRow = AlertRow & { readonly domain: string };

interface Overview {
  readonly total: number;
  readonly domains: readonly DomainRow[];
  readonly days: readonly DayRow[];
  readonly alerts: readonly OpenAlertRow[];
}

type PageOfAccount = { accountId: string } & Page;

const domainCount = prepareQuery<{ accountId: string }, { total: number }>((db, param) =>
  db.selectFrom('account').select('domains_total as total').where('id', '=', param('accountId')),
);

const domainsPage = prepareQuery<PageOfAccount, DomainRow>((db, param) =>
  db
    .selectFrom('domain')
    .select(['id', 'name', 'status', 'last_report_at'])
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .orderBy('name')
    .limit(param('limit'))
    .offset(param('offset')),
);

const daysOfPage = prepareQuery<PageOfAccount & { since: Day }, DayRow>((db, param) =>
  db
    .with('page', (cte) =>
      cte
        .selectFrom('domain')
        .select('id')
        .where('account_id', '=', param('accountId'))
        .where('status', '=', 'active')
        .orderBy('name')
        .limit(param('limit'))
        .offset(param('offset')),
    )
    .selectFrom('page')
    .innerJoin('domain_day', 'domain_day.domain_id', 'page.id')
    .select(['domain_id', 'day', 'messages', 'aligned'])
    .where('day', '>=', param('since')),
);

const openAlerts = prepareQuery<{ accountId: string; limit: number }, OpenAlertRow>((db, param) =>
  db
    .selectFrom('alert')
    .innerJoin('domain', 'domain.id', 'alert.domain_id')
    .select(['alert.id', 'alert.domain_id', 'alert.type', 'alert.fired_at', 'alert.resolved_at'])
    .select(['alert.context', 'domain.name as domain'])
    .where('alert.account_id', '=', param('accountId'))
    .where('alert.resolved_at', 'is', null)
    .orderBy('alert.fired_at', 'desc')
    .orderBy('alert.seq', 'desc')
    .limit(param('limit')),
);

interface WantedOverview extends Page {
  readonly since: Day;
  /** How many open alerts, the latest first. */
  readonly alertLimit: number;
}

/**
 * An overview of an account: a page of its active domains with their days, and its open alerts, from one
 * snapshot.
 */
export async function readOverview(
  reader: Reader,
  accountId: string,
  { since, alertLimit, ...page }: WantedOverview,
): Promise<Overview> {
  const [[count], domains, days, alerts] = await reader.readTogether(
    domainCount({ accountId }),
    domainsPage({ accountId, ...page }),
    daysOfPage({ accountId, since, ...page }),
    openAlerts({ accountId, limit: alertLimit }),
  );
  return { total: count?.total ?? 0, domains, days, alerts };
}

const oneDomain = prepareQuery<{ accountId: string; domainId: string }, DomainRow>((db, param) =>
  db
    .selectFrom('domain')
    .select(['id', 'name', 'status', 'last_report_at'])
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

const daysOfDomain = prepareQuery<{ domainId: string; since: Day }, DayRow>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(['domain_id', 'day', 'messages', 'aligned'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('since')),
);

/** A domain of the account with its days; throws `not_found` when the account has no such domain. */
export async function readDomain(
  reader: Reader,
  { accountId, domainId }: { accountId: string; domainId: string },
  since: Day,
): Promise<{ readonly domain: DomainRow; readonly days: readonly DayRow[] }> {
  const [[domain], days] = await reader.readTogether(
    oneDomain({ accountId, domainId }),
    daysOfDomain({ domainId, since }),
  );
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return { domain, days };
}
