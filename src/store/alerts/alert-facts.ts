import { sql } from 'kysely';
import type { DataDay, Facts, KnownAlert } from '../../domain/alerts/facts.ts';
import { daysNeeded, type Thresholds } from '../../domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant, toDay } from '../../domain/instant.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { listDnsRecords, toDnsFacts } from './dns-records.ts';
import { listFailingSources } from './failing-sources.ts';

/** A domain that alerts are about: an account's, and not paused. */
export interface WatchedDomain {
  readonly id: string;
  readonly accountId: string;
  readonly facts: Facts;
}

interface FactsQuery {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
}

/** A fixed number of look-ups, whatever the history. undefined when the domain is paused, unclaimed or unknown. */
export async function findFacts(
  reader: Reader,
  { domainId, now, thresholds }: FactsQuery,
): Promise<WatchedDomain | undefined> {
  // A reporter whose clock is wrong must not move the newest day far into the future.
  const until = addDays(toDay(now), 1);
  const limit = daysNeeded(thresholds);
  const [[domain], latest, receipts, dns] = await reader.readPlan(() =>
    askAll(
      watchedDomain({ domainId }),
      latestDays({ domainId, until, limit }),
      latestReceipts({ domainId, until, limit: thresholds.silenceWindowDays }),
      listDnsRecords({ domainId }),
    ),
  );
  if (domain === undefined) return undefined;
  const days = latest.reverse().map(toDataDay);
  const from = days[0]?.day ?? until;
  const alerts = (await reader.readAll(knownAlerts({ domainId, from }))).map(toKnownAlert);
  const query = { domainId, now, thresholds, alerts, days, from };
  const failingSources = await listFailingSources(reader, query);
  const { id, accountId, ...known } = domain;
  const facts = { now, ...known, days, receipts: receipts.reverse(), failingSources, alerts };
  return { id, accountId, facts: { ...facts, dns: toDnsFacts(dns) } };
}

const watchedDomain = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('domain')
    .select(['id', 'name as domain', 'watched_since as watchedSince'])
    .select((eb) => eb.ref('account_id').$notNull().as('accountId'))
    .select('last_report_at as lastReportAt')
    .where('id', '=', param('domainId'))
    .where('account_id', 'is not', null)
    .where('status', '=', 'active'),
);

type Latest = { domainId: string; until: Day; limit: number };

const latestDays = prepareQuery((db, param: Param<Latest>) =>
  db
    .selectFrom('domain_day')
    .select(['day', 'messages', 'aligned'])
    .select(sql<0 | 1>`case when sources is null then 0 else 1 end`.as('has_sources'))
    .where('domain_id', '=', param('domainId'))
    .where('day', '<=', param('until'))
    .orderBy('day', 'desc')
    .limit(param('limit')),
);

function toDataDay({ has_sources, ...day }: RowOfQuery<typeof latestDays>): DataDay {
  return { ...day, hasSources: has_sources === 1 };
}

const latestReceipts = prepareQuery((db, param: Param<Latest>) =>
  db
    .selectFrom('domain_receipt')
    .select(['day', 'reports'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '<=', param('until'))
    .orderBy('day', 'desc')
    .limit(param('limit')),
);

/** The open alerts, and those fired since the first day that the rules look back on. */
const knownAlerts = prepareQuery((db, param: Param<{ domainId: string; from: Day }>) => {
  const alerts = db
    .selectFrom('alert')
    .select(['id', 'type', 'subject', 'fired_at as firedAt', 'resolved_at as resolvedAt'])
    .select('context')
    .where('domain_id', '=', param('domainId'));
  return alerts
    .where('fired_at', '>=', param('from'))
    .unionAll(alerts.where('fired_at', '<', param('from')).where('resolved_at', 'is', null));
});

function toKnownAlert({ context, ...alert }: RowOfQuery<typeof knownAlerts>): KnownAlert {
  return { ...alert, isOpen: alert.resolvedAt === null, context: JSON.parse(context) };
}
