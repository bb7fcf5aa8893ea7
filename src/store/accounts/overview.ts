import { Failure } from '../../domain/failure.ts';
import type { Day } from '../../domain/instant.ts';
import { type AlertOfAccount, selectAccountAlerts } from '../alerts/alerts.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import type { Page } from '../lists/page.ts';
import {
  DOMAIN_COLUMNS,
  type DomainRow,
  domainsHead,
  domainsPage,
  type PageOfAccount,
  selectPage,
} from './domains.ts';

/** The totals of a domain's reports of one day. */
export interface DayRow {
  readonly domain_id: string;
  readonly day: Day;
  readonly messages: number;
  readonly aligned: number;
}

interface Overview {
  readonly total: number;
  readonly domains: readonly DomainRow[];
  readonly days: readonly DayRow[];
  readonly alerts: readonly AlertOfAccount[];
}

const daysOfPage = prepareQuery<PageOfAccount & { since: Day }, DayRow>((db, param) =>
  db
    .with('page', () => selectPage(db, param).select('id'))
    .selectFrom('page')
    .innerJoin('domain_day', 'domain_day.domain_id', 'page.id')
    .select(['domain_id', 'day', 'messages', 'aligned'])
    .where('day', '>=', param('since')),
);

const openAlerts = prepareQuery<{ accountId: string; limit: number }, AlertOfAccount>((db, param) =>
  selectAccountAlerts(db, param('accountId'))
    .where('alert.resolved_at', 'is', null)
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
  const [[head], domains, days, alerts] = await reader.readTogether(
    domainsHead({ accountId }),
    domainsPage({ accountId, ...page }),
    daysOfPage({ accountId, since, ...page }),
    openAlerts({ accountId, limit: alertLimit }),
  );
  return { total: head?.total ?? 0, domains, days, alerts };
}

const oneDomain = prepareQuery<{ accountId: string; domainId: string }, DomainRow>((db, param) =>
  db
    .selectFrom('domain')
    .select(DOMAIN_COLUMNS)
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Throws `not_found` when the account has no such domain. */
export async function findDomain(
  reader: Reader,
  scope: { accountId: string; domainId: string },
): Promise<DomainRow> {
  return requireDomain(await reader.readFirst(oneDomain(scope)));
}

function requireDomain(domain: DomainRow | undefined): DomainRow {
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return domain;
}

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
  return { domain: requireDomain(domain), days };
}
