import type { Day } from '../../domain/instant.ts';
import { JUDGED_VERSION } from '../days/believed.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';

/** A domain that alerts are about: an account's, and not paused. */
export const watchedDomain = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('domain')
    .select(['id', 'name as domain', 'watched_since as watchedSince'])
    .select((eb) => eb.ref('account_id').$notNull().as('accountId'))
    .select(['tls_version as tlsVersion', 'last_report_at as lastReportAt'])
    .select(JUDGED_VERSION.as('version'))
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('domain_day')
          .select('day')
          .whereRef('domain_id', '=', 'domain.id')
          .where('belief', '!=', 'established'),
      ).as('hasDoubtful'),
    )
    .where('id', '=', param('domainId'))
    .where('account_id', 'is not', null)
    .where('status', '=', 'active'),
);

/** The open alerts, and those fired since the first day that the rules look back on. */
export const knownAlerts = prepareQuery((db, param: Param<{ domainId: string; from: Day }>) => {
  const alerts = db
    .selectFrom('alert')
    .select(['id', 'type', 'subject', 'fired_at as firedAt', 'resolved_at as resolvedAt'])
    .select('context')
    .where('domain_id', '=', param('domainId'));
  return alerts
    .where('fired_at', '>=', param('from'))
    .unionAll(alerts.where('fired_at', '<', param('from')).where('resolved_at', 'is', null));
});
