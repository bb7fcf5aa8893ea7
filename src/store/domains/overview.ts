import type { Expression, Kysely } from 'kysely';
import { findAlertCause, isUnconfirmed } from '../../domain/alerts/alert-texts.ts';
import { listAlertSources } from '../../domain/alerts/new-failing-source.ts';
import { listPolicySteps } from '../../domain/dns/policy-steps.ts';
import type { OpenAlert } from '../../domain/domain-facts.ts';
import { Failure } from '../../domain/failure.ts';
import {
  addDays,
  BEGIN_OF_TIME,
  type Day,
  END_OF_TIME,
  type Instant,
  isDay,
  toDay,
} from '../../domain/instant.ts';
import { type Aside, asideOf, type DaysQuery, planState, selectDays } from '../days/believed.ts';
import { latestDays } from '../days/views.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';
import { DOMAIN_COLUMNS, type DomainRow } from './domains.ts';

const oneDomain = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .select(DOMAIN_COLUMNS)
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Throws `not_found`. */
export async function findDomain(reader: Reader, scope: DomainOfAccount): Promise<DomainRow> {
  return requireDomain(await reader.readAll(oneDomain(scope)));
}

function requireDomain([domain]: readonly DomainRow[]): DomainRow {
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return domain;
}

/** More days than a gap of reports has: what was published before a range, and whether its last step is one. */
const MARGIN_DAYS = 30;

/** Of days on which a file or an established reporter states a policy, whatever reports count. */
const statedDays = prepareQuery((db, param: Param<DaysQuery>) =>
  selectDays(db, param).select(['day', 'policy']).where('policy', 'is not', null).orderBy('day'),
);

function selectAlerts(db: Kysely<Tables>, domainId: Expression<string>) {
  return db
    .selectFrom('alert')
    .select(['type', 'fired_at', 'resolved_at', 'context'])
    .where('domain_id', '=', domainId)
    .orderBy('fired_at', 'desc')
    .orderBy('seq', 'desc');
}

const alertsOfRange = prepareQuery(
  (db, param: Param<{ domainId: string; from: Instant; until: Instant; limit: number }>) =>
    selectAlerts(db, param('domainId'))
      .where('fired_at', '>=', param('from'))
      .where('fired_at', '<', param('until'))
      .limit(param('limit')),
);

/** So many alerts from before the range are read. Alerts that were resolved in the range are shown. */
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
  /** Of the clock. */
  readonly today: Day;
  /** The days of its charts, both included. */
  readonly from: Day;
  readonly to: Day;
}

/** A domain of the account with its days, and its alerts around them. */
export async function readDomain(
  reader: Reader,
  scope: DomainOfAccount,
  { today, from, to }: DomainQuery,
) {
  const { domainId } = scope;
  const until = addDays(to, MAX_LAG_DAYS);
  const around = { from: addDays(from, -MARGIN_DAYS), to: addDays(to, MARGIN_DAYS) };
  const read = await reader.readPlan(function* () {
    const { reporters } = yield* planState({ domainId, today });
    const counting = { domainId, view: reporters, limit: Number.MAX_SAFE_INTEGER };
    const rows = yield* askAll(
      oneDomain(scope),
      latestDays({ ...counting, from, to }),
      asideOf({ ...counting, from, to }),
      statedDays({ domainId, view: 'established', ...around }),
      alertsOfRange({ domainId, from, until, limit: MAX_ALERTS }),
      alertsOfRange({ domainId, from: BEGIN_OF_TIME, until: from, limit: MAX_EARLIER }),
      openAlertsOfDomain({ domainId }),
    );
    return { reporters, rows };
  });
  const { reporters, rows } = read;
  const [found, days, [aside], policies, fired, earlier, open] = rows;
  // Earlier alerts that lasted into the range are shown too.
  const lasted = earlier.filter(({ resolved_at }) => resolved_at !== null && resolved_at >= from);
  const past = [...fired, ...lasted, ...open.filter(({ fired_at }) => fired_at < from)];
  // Earlier alerts may exist that were not read.
  const isPastCut = fired.length === MAX_ALERTS || earlier.length === MAX_EARLIER;
  const domain = requireDomain(found);
  const known = listPolicySteps(policies, [...fired, ...earlier]);
  const steps = known.filter(({ day }) => day >= from && day <= to);
  const believed = { reporters, aside: aside as Aside };
  return { domain, ...believed, days: days.toReversed(), steps, past, isPastCut, open };
}

/** Steps of a domain's policy since a day. */
export async function readPolicySteps(reader: Reader, domainId: string, from: Day) {
  const stated = { domainId, view: 'established' as const, from, to: toDay(END_OF_TIME) };
  const fired = { domainId, from, until: END_OF_TIME, limit: MAX_ALERTS };
  return listPolicySteps(
    ...(await reader.readPlan(() => askAll(statedDays(stated), alertsOfRange(fired)))),
  );
}

/** The alerts that the next step tells of. What nobody says who is established is none. */
export function toOpenAlerts(
  alerts: readonly { readonly type: string; readonly context: string }[],
): OpenAlert[] {
  return alerts.flatMap(({ type, context: text }) => {
    const context = JSON.parse(text);
    if (isUnconfirmed(context)) return [];
    const listed = listAlertSources(context).map(({ ip }) => String(ip));
    const isWhole = context['additional_sources'] === 0 && listed.length > 0;
    const sources = isWhole ? listed : undefined;
    return [{ type, day: findDay(text), cause: findAlertCause(type, context), sources }];
  });
}

/** The day that an alert is about, by its context: JSON. */
export function findDay(context: string): Day | undefined {
  const { since, day = since } = JSON.parse(context);
  return typeof day === 'string' && isDay(day) ? day : undefined;
}
