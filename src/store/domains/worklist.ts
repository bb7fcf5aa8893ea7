import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { DayCounts } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { selectAccountAlerts } from '../alerts/alerts.ts';
import { dataDaysOf, isInView, type Lately, toLately, viewOf } from '../days/believed.ts';
import { selectStated } from '../days/stated-policy.ts';
import { latestDays } from '../days/views.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type BoundQuery, type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import { openProposals } from './proposals.ts';

/*
 * What the overview ranks all active domains of an account by. Days are added up in the database: of two hundred domains
 * with sixty days each that is 12,000 rows.
 */

type OfAccount = { accountId: string };

/** An account with more has its first ones by name on the overview. */
const MAX_DOMAINS = 5_000;

/** Active domains by name, and whose reports of each count. */
const activeOfAccount = prepareQuery((db, param: Param<OfAccount & Lately>) =>
  db
    .selectFrom('domain')
    .select(['id', viewOf(db, sql.ref('domain.id'), param).as('reporters')])
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .orderBy('name')
    .limit(MAX_DOMAINS),
);

type ActiveDomain = RowOfQuery<typeof activeOfAccount>;

/** JSON of ids of domains that have one view. */
type OfView = { ids: string; view: View };

/** Asks for domains, which the caller knows to be the account's, by their views. */
function* askByView<Row>(
  domains: readonly ActiveDomain[],
  query: (of: OfView) => BoundQuery<Row>,
): Plan<Row[]> {
  const found: Row[] = [];
  for (const [view, some] of Map.groupBy(domains, ({ reporters }) => reporters))
    found.push(...(yield* ask(query({ ids: JSON.stringify(some.map(({ id }) => id)), view }))));
  return found;
}

type DomainState = RowOfQuery<typeof statesOf>;

/** Domains with the days that count, and the policy of the newest day whose reports state one. */
const statesOf = prepareQuery((db, param: Param<OfView>) => {
  const stated = selectStated(db, sql.ref('domain.id'), param('view')).select('policy');
  return db
    .selectFrom('domain')
    .select([
      'id',
      'name',
      'status',
      'last_report_at',
      'sends_no_mail',
      sql<View>`${param('view')}`.as('reporters'),
    ])
    .select([...dataDaysOf(db, param('view')), stated.as('policy')])
    .where(dialectOf(db).isIn(sql.ref('id'), param('ids'), 'uuid'));
});

/** Adds up the days from `from` on, the days before, and what does not count. */
export const sumsOfDomains = prepareQuery(
  (db, param: Param<OfView & { before: Day; from: Day; to: Day }>) => {
    const isCounted = isInView(param('view'));
    const counted = sql<SqlBool>`${isCounted} and day >= ${param('from')}`;
    const before = sql<SqlBool>`${isCounted} and day < ${param('from')}`;
    const aside = sql<SqlBool>`not ${isCounted} and day >= ${param('from')}`;
    const unproven = sql<SqlBool>`${counted} and belief <> 'established'`;
    return db
      .selectFrom('domain_day')
      .select([
        'domain_id',
        sumOf('messages', counted).as('messages'),
        sumOf('aligned', counted).as('aligned'),
        sumOf('messages', before).as('messagesBefore'),
        sumOf('aligned', before).as('alignedBefore'),
        sumOf('reports', aside).as('asideReports'),
        sumOf('messages', aside).as('asideMessages'),
        sumOf('reports', unproven).as('unproven'),
        sql<number>`count(distinct case when ${counted} and messages > 0 then day end)`.as(
          'dataDays',
        ),
      ])
      .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
      .where('day', '>=', param('before'))
      .where('day', '<=', param('to'))
      .groupBy('domain_id');
  },
);

/** What DNS checks know of DMARC records: JSON of a `DnsRecordState`. */
const recordsOfAccount = prepareQuery((db, param: Param<OfAccount>) =>
  db
    .selectFrom('domain')
    .innerJoin('dns_record', 'dns_record.domain_id', 'domain.id')
    .select(['domain_id', 'state'])
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .where('record_type', '=', 'dmarc'),
);

/** Many more than an account has domains, so that a flood of them does not fill the memory. */
const MAX_OPEN = 10_000;

const openAlerts = prepareQuery((db, param: Param<OfAccount>) =>
  selectAccountAlerts(db, param('accountId'))
    .where('alert.resolved_at', 'is', null)
    .limit(MAX_OPEN),
);

interface WorklistQuery extends OfAccount {
  readonly today: Day;
  /** How many days, up to the newest of the account. As many before are for comparison. */
  readonly days: number;
}

/** Domains whose days are added up before the event loop runs: 12,000 days take some milliseconds. */
const DOMAINS_AT_ONCE = 200;

/** All active domains of an account by name, with what their next steps depend on. */
export async function readWorklist(reader: Reader, { accountId, today, days }: WorklistQuery) {
  const [unordered, [records, alerts, proposals]] = await reader.readPlan(function* () {
    const active = yield* ask(activeOfAccount({ accountId, ...toLately(today) }));
    const others = yield* askAll(
      recordsOfAccount({ accountId }),
      openAlerts({ accountId }),
      openProposals({ accountId }),
    );
    return [yield* askByView(active, statesOf), others] as const;
  });
  const states = unordered.sort((a, b) => (a.name < b.name ? -1 : 1));
  const range = toRange(states, today, days);
  const sums: RowOfQuery<typeof sumsOfDomains>[] = [];
  for (let i = 0; i < states.length; i += DOMAINS_AT_ONCE) {
    const some = states.slice(i, i + DOMAINS_AT_ONCE);
    const wanted = { ...range, before: addDays(range.from, -days) };
    const ofView = (of: OfView) => sumsOfDomains({ ...of, ...wanted });
    sums.push(...(await reader.readPlan(() => askByView(some, ofView))));
    await yieldToOthers();
  }
  return { range, states, sums, records, alerts, proposals };
}

/** Reporters lag by days, so it ends with the newest day of all domains. */
function toRange(states: readonly DomainState[], today: Day, days: number): DayRange {
  const newest = states.map((state) => state.newest ?? '').filter((day) => day <= today);
  const to = newest.reduce((a, b) => (a > b ? a : b), '') || today;
  return { from: addDays(to, 1 - days), to };
}

export type Worklist = Awaited<ReturnType<typeof readWorklist>>;

/** The days of a range that count, of few domains, which the caller knows to be the account's. */
export async function readDaysOf<Domain extends ActiveDomain>(
  reader: Reader,
  domains: readonly Domain[],
  toRange: (domain: Domain) => DayRange,
): Promise<ReadonlyMap<string, readonly DayCounts[]>> {
  const limit = Number.MAX_SAFE_INTEGER;
  const queries = domains.map((domain) =>
    latestDays({ ...toRange(domain), limit, domainId: domain.id, view: domain.reporters }),
  );
  const days = await reader.readPlan(() => askAll(...queries));
  return new Map(domains.map(({ id }, i) => [id, (days[i] as DayCounts[]).reverse()]));
}
