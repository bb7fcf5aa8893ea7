import { sql } from 'kysely';
import type { DataDay, Facts, KnownAlert } from '../../domain/alerts/facts.ts';
import type { Views } from '../../domain/alerts/occurrences.ts';
import { daysNeeded, type Thresholds } from '../../domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { listDnsRecords, toDnsFacts } from './dns-records.ts';
import { listFailingSources } from './failing-sources.ts';
import { selectViewDays } from './view-days.ts';

/** A domain that alerts are about: an account's, and not paused. */
export interface WatchedDomain {
  readonly id: string;
  readonly accountId: string;
  /** The domain as alerts look at it (domain/reports/authentication.ts). Often the views do not differ: then one. */
  readonly views: Views;
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
  const undisputed: View = 'undisputed';
  const [[domain], latest, receipts, dns] = await reader.readPlan(() =>
    askAll(
      watchedDomain({ domainId }),
      latestDays({ domainId, until, limit, view: undisputed }),
      latestReceipts({ domainId, until, limit: thresholds.silenceWindowDays }),
      listDnsRecords({ domainId }),
    ),
  );
  if (domain === undefined) return undefined;
  const { id, accountId, hasAlertDays, ...known } = domain;
  const dnsFacts = toDnsFacts(dns);
  const findView = async (data: DomainData): Promise<Facts> => {
    const days = data.latest.toReversed().map(toDataDay);
    const from = days[0]?.day ?? until;
    const alerts = (await reader.readAll(knownAlerts({ domainId, from }))).map(toKnownAlert);
    const query = { domainId, now, thresholds, alerts, days, from, view: data.view };
    const failingSources = await listFailingSources(reader, query);
    const { lastReportAt = known.lastReportAt, receipts } = data;
    const facts = { now, ...known, lastReportAt, days, receipts: receipts.toReversed() };
    return { ...facts, failingSources, alerts, dns: dnsFacts };
  };
  const findAll = () => findView({ latest, receipts, view: undisputed });
  if (!hasAlertDays) return { id, accountId, views: [await findAll()] };
  const query = { domainId, until, limit, lastReportAt: known.lastReportAt };
  const established = await findView(await readEstablished(reader, query, thresholds));
  if (thresholds.unauthenticated === 'off') return { id, accountId, views: [established] };
  return { id, accountId, views: [await findAll(), established] };
}

interface DomainData {
  readonly latest: readonly RowOfQuery<typeof latestDays>[];
  readonly receipts: Facts['receipts'];
  readonly view: View;
  readonly lastReportAt?: Instant | null;
}

/** What files and the mails of established reporters say. */
async function readEstablished(
  reader: Reader,
  { domainId, until, limit, lastReportAt }: Latest & { readonly lastReportAt: Instant | null },
  { silenceWindowDays }: Thresholds,
): Promise<DomainData> {
  const view = 'established';
  const [latest, receipts] = await reader.readPlan(() =>
    askAll(
      latestDays({ domainId, until, limit, view }),
      establishedReceipts({ domainId, until, limit: silenceWindowDays }),
    ),
  );
  return { latest, receipts, view, lastReportAt: toLastReport(receipts[0], lastReportAt) };
}

/** Only the day is known when others came in on it as well: then its end is taken, and an alert fires a little later. */
function toLastReport(
  last: { readonly day: Day; readonly others: number } | undefined,
  lastReportAt: Instant | null,
): Instant | null {
  if (last === undefined || lastReportAt === null) return null;
  const end = `${last.day}T23:59:59Z`;
  return lastReportAt < end && last.others === 0 ? lastReportAt : end;
}

const watchedDomain = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('domain')
    .select(['id', 'name as domain', 'watched_since as watchedSince'])
    .select((eb) => eb.ref('account_id').$notNull().as('accountId'))
    .select('last_report_at as lastReportAt')
    .select(({ exists, selectFrom }) =>
      exists(selectFrom('alert_day').select('day').whereRef('domain_id', '=', 'domain.id')).as(
        'hasAlertDays',
      ),
    )
    .where('id', '=', param('domainId'))
    .where('account_id', 'is not', null)
    .where('status', '=', 'active'),
);

type Latest = { domainId: string; until: Day; limit: number };

const latestDays = prepareQuery((db, param: Param<Latest & { view: View }>) =>
  selectViewDays(db, param('view'))
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

const establishedReceipts = prepareQuery((db, param: Param<Latest>) =>
  db
    .selectFrom('domain_receipt')
    .select(['day', 'doubtful as others'])
    .select(sql<number>`reports - doubtful`.as('reports'))
    .where('domain_id', '=', param('domainId'))
    .where('day', '<=', param('until'))
    .whereRef('reports', '>', 'doubtful')
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
