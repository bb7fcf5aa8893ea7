import { addDays, type Day } from '../../domain/instant.ts';
import { ask, type Plan } from '../connection/plan.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import { type DomainScope, requireDomain } from './scope.ts';

/** Which days of a domain have data. */
export interface DataDays {
  readonly oldest: Day | null;
  /** Ranges end with it. */
  readonly newest: Day | null;
  /**
   * The first day from which every report has details of its sources (decision 93); null when all have them.
   * On the days before, counts of aligned DKIM and SPF and patterns are incomplete.
   */
  readonly detailsSince: Day | null;
}

/** Throws `not_found` when the account has no such domain. */
export async function findDataDays(reader: Reader, scope: DomainScope): Promise<DataDays> {
  return await reader.readPlan(() => planDataDays(scope));
}

function* planDataDays(scope: DomainScope): Plan<DataDays> {
  yield* requireDomain(scope);
  const { domainId } = scope;
  const [oldest] = yield* ask(oldestDay({ domainId }));
  const [newest] = yield* ask(newestDay({ domainId }));
  const [undetailed] = yield* ask(newestUndetailed({ domainId }));
  return {
    oldest: oldest?.day ?? null,
    newest: newest?.day ?? null,
    detailsSince: undetailed === undefined ? null : addDays(undetailed.day, 1),
  };
}

type OfDomain = { domainId: string };
type DayRow = { day: Day };

const oldestDay = prepareQuery<OfDomain, DayRow>((db, param) =>
  db
    .selectFrom('domain_day')
    .select('day')
    .where('domain_id', '=', param('domainId'))
    .orderBy('day')
    .limit(1),
);

const newestDay = prepareQuery<OfDomain, DayRow>((db, param) =>
  db
    .selectFrom('domain_day')
    .select('day')
    .where('domain_id', '=', param('domainId'))
    .orderBy('day', 'desc')
    .limit(1),
);

const newestUndetailed = prepareQuery<OfDomain, DayRow>((db, param) =>
  db
    .selectFrom('undetailed_report')
    .select('day')
    .where('domain_id', '=', param('domainId'))
    .orderBy('day', 'desc')
    .limit(1),
);
