import type { Day, DayRange } from '../../domain/instant.ts';
import {
  type Cover,
  coverRange,
  type Period,
  type PeriodState,
  type PeriodStates,
  toThird,
} from '../../domain/sources/periods.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { type DomainScope, requireDomain } from './scope.ts';

type PeriodKey = { readonly domain_id: string; readonly period: Period };

/** Writes nothing for a period that is stale already. The period of the newest days nearly always is. */
const staleUpserts = prepareRows<PeriodKey, never>(['domain_id', 'period'], (db, rows) =>
  db
    .insertInto('source_period')
    .values(rows.map((row) => ({ ...row, state: 'stale' as const })))
    .onConflict((oc) =>
      oc
        .columns(['domain_id', 'period'])
        .doUpdateSet({ state: 'stale' })
        .where('source_period.state', '<>', 'stale'),
    ),
);

/** Statements that set periods of a domain to stale. Run them in the transaction that changes the periods' sums. */
export function staleUpsertsOf(domainId: string, periods: readonly Period[]): BoundQuery<never>[] {
  return staleUpserts(periods.map((period) => ({ domain_id: domainId, period })));
}

interface ChangedDay {
  readonly domainId: string;
  readonly day: Day;
}

/** Every transaction that changes a day's sources runs these statements, while it holds the domain's lock. */
export function staleUpsertsOfDays(days: readonly ChangedDay[]): BoundQuery<never>[] {
  const keys = days.map(({ domainId, day }) => ({ domain_id: domainId, period: toThird(day) }));
  const byKey = new Map(keys.map((key) => [`${key.domain_id} ${key.period}`, key]));
  return staleUpserts([...byKey.values()]);
}

type Years = { domainId: string; from: string; to: string };

/** @internal A test reads its query plan. */
export const statesOfYears = prepareQuery<Years, { period: Period; state: PeriodState }>(
  (db, param) =>
    db
      .selectFrom('source_period')
      .select(['period', 'state'])
      .where('domain_id', '=', param('domainId'))
      .where('period', '>=', param('from'))
      .where('period', '<', param('to')),
);

/** The states of all periods of a range's years: at most 52 rows a year. */
function* planStates(domainId: string, { from, to }: DayRange): Plan<PeriodStates> {
  // `~` sorts after every character that follows a year in a period.
  const years = { domainId, from: from.slice(0, 4), to: `${to.slice(0, 4)}~` };
  const rows = yield* ask(statesOfYears(years));
  return new Map(rows.map(({ period, state }) => [period, state]));
}

export function* planCover(
  domainId: string,
  range: DayRange,
): Plan<Cover & { readonly states: PeriodStates }> {
  const states = yield* planStates(domainId, range);
  return { ...coverRange(range, states), states };
}

export interface RangeParts {
  readonly domainId: string;
  readonly range: DayRange;
  readonly cover: Cover;
}

/** Throws `not_found` when the account has no such domain. */
export function* planParts(scope: DomainScope, range: DayRange): Plan<RangeParts> {
  yield* requireDomain(scope);
  const { domainId } = scope;
  return { domainId, range, cover: yield* planCover(domainId, range) };
}

export function toJsonLists({ days, periods }: Cover) {
  return { days: JSON.stringify(days), periods: JSON.stringify(periods) };
}
