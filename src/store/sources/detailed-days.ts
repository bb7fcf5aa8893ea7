import { addDays, type Day } from '../../domain/instant.ts';
import { type DataDays, dataDays } from '../accounts/domain-reports.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { type DomainScope, requireDomain } from './scope.ts';

export interface DetailedDays extends DataDays {
  /**
   * The first day from which every report has details of its sources (decision 93); null when all reports have them.
   * On the days before it, counts of aligned DKIM and SPF and patterns are incomplete.
   */
  readonly detailsSince: Day | null;
}

/** Throws `not_found` when the account has no such domain. */
export async function findDetailedDays(reader: Reader, scope: DomainScope): Promise<DetailedDays> {
  return await reader.readPlan(() => planDetailedDays(scope));
}

function* planDetailedDays(scope: DomainScope): Plan<DetailedDays> {
  yield* requireDomain(scope);
  const [days] = yield* ask(dataDays(scope));
  const [undetailed] = yield* ask(newestUndetailed({ domainId: scope.domainId }));
  return {
    oldest: days?.oldest ?? null,
    newest: days?.newest ?? null,
    detailsSince: undetailed === undefined ? null : addDays(undetailed.day, 1),
  };
}

const newestUndetailed = prepareQuery<{ domainId: string }, { day: Day }>((db, param) =>
  db
    .selectFrom('undetailed_report')
    .select('day')
    .where('domain_id', '=', param('domainId'))
    .orderBy('day', 'desc')
    .limit(1),
);
