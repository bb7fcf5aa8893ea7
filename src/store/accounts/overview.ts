import type { Expression, Kysely } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { addDays, BEGIN_OF_TIME, type Day, type Instant } from '../../domain/instant.ts';
import { selectAccountAlerts } from '../alerts/alerts.ts';
import { listDnsRecords, toDnsFacts } from '../alerts/dns-records.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import type { Page } from '../lists/page.ts';
import type { Tables } from '../tables.ts';
import {
  DOMAIN_COLUMNS,
  type DomainRow,
  domainsHead,
  domainsPage,
  type PageOfAccount,
  selectPage,
} from './domains.ts';
import { openProposals } from './proposals.ts';

function pageIds(db: Kysely<Tables>, param: Param<PageOfAccount>) {
  return selectPage(db, param).select('id').as('page');
}

const daysOfPage = prepareQuery((db, param: Param<PageOfAccount & { since: Day }>) =>
  db
    .selectFrom(pageIds(db, param))
    .innerJoin('domain_day', 'domain_day.domain_id', 'page.id')
    .select(['domain_id', 'day', 'messages', 'aligned', 'policy'])
    .where('day', '>=', param('since'))
    .orderBy('day'),
);

/**
 * The first and the newest day that a domain's reports begin on. Two look-ups in the index for each domain: `min` and
 * `max` of one query would read all of its days on SQLite.
 */
const spansOfPage = prepareQuery((db, param: Param<PageOfAccount>) =>
  db.selectFrom(pageIds(db, param)).select((eb) => {
    const days = eb.selectFrom('domain_day').whereRef('domain_day.domain_id', '=', 'page.id');
    return [
      'page.id as domain_id',
      days.select(({ fn }) => fn.min('day').as('day')).as('oldest'),
      days.select(({ fn }) => fn.max('day').as('day')).as('newest'),
    ];
  }),
);

/** Types of open alerts, each once for a domain. */
const openTypesOfPage = prepareQuery((db, param: Param<PageOfAccount>) =>
  db
    .selectFrom(pageIds(db, param))
    .innerJoin('alert', 'alert.domain_id', 'page.id')
    .select(['domain_id', 'type'])
    .where('resolved_at', 'is', null)
    .distinct(),
);

/** What DNS checks know of DMARC records: JSON of a `DnsRecordState`. */
const recordsOfPage = prepareQuery((db, param: Param<PageOfAccount>) =>
  db
    .selectFrom(pageIds(db, param))
    .innerJoin('dns_record', 'dns_record.domain_id', 'page.id')
    .select(['domain_id', 'state'])
    .where('record_type', '=', 'dmarc'),
);

const openAlerts = prepareQuery((db, param: Param<{ accountId: string; limit: number }>) =>
  selectAccountAlerts(db, param('accountId'))
    .where('alert.resolved_at', 'is', null)
    .limit(param('limit')),
);

interface OverviewQuery extends Page {
  readonly since: Day;
  /** How many open alerts, the latest first. */
  readonly alertLimit: number;
}

/** A page of an account's active domains, what their next steps depend on, its open alerts and proposals: one snapshot. */
export async function readOverview(
  reader: Reader,
  accountId: string,
  { since, alertLimit, ...page }: OverviewQuery,
) {
  const ofPage = { accountId, ...page };
  const [[head], domains, days, spans, openTypes, records, alerts, proposals] =
    await reader.readPlan(() =>
      askAll(
        domainsHead({ accountId }),
        domainsPage(ofPage),
        daysOfPage({ since, ...ofPage }),
        spansOfPage(ofPage),
        openTypesOfPage(ofPage),
        recordsOfPage(ofPage),
        openAlerts({ accountId, limit: alertLimit }),
        openProposals({ accountId }),
      ),
    );
  return { total: head?.total ?? 0, domains, days, spans, openTypes, records, alerts, proposals };
}

const oneDomain = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .select(DOMAIN_COLUMNS)
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Throws `not_found`. */
export function findDomain(reader: Reader, scope: DomainOfAccount): Promise<DomainRow> {
  return reader.readPlan(() => planDomain(scope));
}

/** Throws `not_found`. */
export function* planDomain(scope: DomainOfAccount): Plan<DomainRow> {
  return requireDomain(yield* ask(oneDomain(scope)));
}

function requireDomain([domain]: readonly DomainRow[]): DomainRow {
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return domain;
}

const daysOfDomain = prepareQuery((db, param: Param<{ domainId: string; from: Day; to: Day }>) =>
  db
    .selectFrom('domain_day')
    .select(['domain_id', 'day', 'messages', 'aligned', 'policy'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day'),
);

function selectAlerts(db: Kysely<Tables>, domainId: Expression<string>) {
  return db
    .selectFrom('alert')
    .select(['type', 'fired_at', 'resolved_at', 'context'])
    .where('domain_id', '=', domainId)
    .orderBy('fired_at', 'desc')
    .orderBy('seq', 'desc');
}

type AlertRange = { domainId: string; from: Instant; until: Instant; limit: number };

const alertsOfRange = prepareQuery((db, param: Param<AlertRange>) =>
  selectAlerts(db, param('domainId'))
    .where('fired_at', '>=', param('from'))
    .where('fired_at', '<', param('until'))
    .limit(param('limit')),
);

/** How many alerts from before the range are read. Those that were resolved in the range are shown. */
const MAX_EARLIER = 100;
/** Alerts of a range that are read. Charts mark fewer. */
const MAX_ALERTS = 200;
/** Alerts fire some days after the day that they are about. */
const MAX_LAG_DAYS = 10;

/** A domain has at most one open alert of each type and subject. */
const openAlertsOfDomain = prepareQuery((db, param: Param<{ domainId: string }>) =>
  selectAlerts(db, param('domainId')).where('resolved_at', 'is', null),
);

interface DomainQuery {
  /** The days of its charts, both included. */
  readonly from: Day;
  readonly to: Day;
  /** The days that its next step depends on. */
  readonly window: { readonly from: Day; readonly to: Day };
}

/** A domain of the account with its days, its alerts around them, and what its next step depends on. */
export async function readDomain(
  reader: Reader,
  scope: DomainOfAccount,
  { from, to, window }: DomainQuery,
) {
  const { domainId } = scope;
  const until = addDays(to, MAX_LAG_DAYS);
  const [found, days, latest, fired, earlier, open, dns] = await reader.readPlan(() =>
    askAll(
      oneDomain(scope),
      daysOfDomain({ domainId, from, to }),
      daysOfDomain({ domainId, ...window }),
      alertsOfRange({ domainId, from, until, limit: MAX_ALERTS }),
      alertsOfRange({ domainId, from: BEGIN_OF_TIME, until: from, limit: MAX_EARLIER }),
      openAlertsOfDomain({ domainId }),
      listDnsRecords({ domainId }),
    ),
  );
  const confirmed = toDnsFacts(dns).dmarc?.confirmed ?? undefined;
  const stated = latest.findLast(({ policy }) => policy !== null);
  const record = confirmed === undefined ? (stated?.policy ?? undefined) : confirmed.value;
  const openAlerts = [...new Set(open.map(({ type }) => type))];
  // Also those that lasted into the range.
  const lasted = earlier.filter(({ resolved_at }) => resolved_at !== null && resolved_at >= from);
  const past = [...fired, ...lasted, ...open.filter(({ fired_at }) => fired_at < from)];
  // Earlier alerts may exist that were not read.
  const isPastCut = fired.length === MAX_ALERTS || earlier.length === MAX_EARLIER;
  const known = { openAlerts, record, statedOn: confirmed === undefined ? stated?.day : undefined };
  return { domain: requireDomain(found), days, latest, past, isPastCut, ...known };
}
