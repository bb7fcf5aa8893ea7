import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import type { DayCounts } from '../../domain/pass-rate.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { selectAccountAlerts } from '../alerts/alerts.ts';
import {
  dataDaysOf,
  isInView,
  JUDGED_VERSION,
  type Lately,
  toLately,
  viewOf,
} from '../days/believed.ts';
import { selectStated } from '../days/stated-policy.ts';
import { latestDays } from '../days/views.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type BoundQuery, type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import type { Tables } from '../tables.ts';

/*
 * What the overview ranks all active domains of an account by. Days are added up in the database: of two hundred domains
 * with sixty days each that is 12,000 rows. What was read of a domain is good while it has the same version.
 */

type OfAccount = { accountId: string };

const ACCOUNT_VERSION = sql<string>`changes_nonce || domains_version || reports_version || alerts_version
  || coalesce(days_version, '')`;

/** Another version whenever something changes of what an account's work is found by, but the day. */
export const accountVersion = prepareQuery((db, param: Param<OfAccount>) =>
  db
    .selectFrom('account')
    .select([ACCOUNT_VERSION.as('version'), 'domains_total as domains'])
    .where('id', '=', param('accountId')),
);

/** Domains by name, and whose reports of each count. */
const activeAfter = prepareQuery(
  (db, param: Param<OfAccount & Lately & { after: string; limit: number }>) =>
    selectDomains(db, param)
      .where('account_id', '=', param('accountId'))
      .where('status', '=', 'active')
      .where('name', '>', param('after'))
      .orderBy('name')
      .limit(param('limit')),
);

const oneDomain = prepareQuery((db, param: Param<OfAccount & Lately & { domainId: string }>) =>
  selectDomains(db, param)
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** `dmarc` is what DNS checks know of the record: JSON of a `DnsRecordState`. */
function selectDomains<P extends Lately>(db: Kysely<Tables>, param: Param<P>) {
  return db
    .selectFrom('domain')
    .select(['id', 'name', 'status', 'last_report_at', 'sends_no_mail', 'alerts_version'])
    .select([JUDGED_VERSION.as('version'), viewOf(db, sql.ref('domain.id'), param).as('reporters')])
    .select(({ selectFrom }) =>
      selectFrom('dns_record')
        .select('state')
        .whereRef('domain_id', '=', 'domain.id')
        .where('record_type', '=', 'dmarc')
        .as('dmarc'),
    );
}

type Viewed = { readonly id: string; readonly reporters: View };

/** JSON of ids of domains that have one view. */
type OfView = { ids: string; view: View };

/** Asks for domains, which the caller knows to be the account's, by their views. */
function* askByView<Row>(
  domains: readonly Viewed[],
  query: (of: OfView) => BoundQuery<Row>,
): Plan<Row[]> {
  const found: Row[] = [];
  for (const [view, some] of Map.groupBy(domains, ({ reporters }) => reporters))
    found.push(...(yield* ask(query({ ids: JSON.stringify(some.map(({ id }) => id)), view }))));
  return found;
}

/** The days that count, and the policy that files and established reporters state, with its day. */
const datesOf = prepareQuery((db, param: Param<OfView>) => {
  const stated = selectStated(db, sql.ref('domain.id'));
  return db
    .selectFrom('domain')
    .select(['id', ...dataDaysOf(db, param('view'))])
    .select([stated.select('policy').as('policy'), stated.select('day').as('statedOn')])
    .where(dialectOf(db).isIn(sql.ref('id'), param('ids'), 'uuid'));
});

type Dates = Omit<RowOfQuery<typeof datesOf>, 'id'>;
type DomainState = RowOfQuery<typeof activeAfter> & Dates;

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

type DomainSum = RowOfQuery<typeof sumsOfDomains>;

/** Many more than an account has domains, so that a flood of them does not fill the memory. */
const MAX_OPEN = 10_000;

const openAlerts = prepareQuery((db, param: Param<OfAccount>) =>
  selectAccountAlerts(db, param('accountId'))
    .where('alert.resolved_at', 'is', null)
    .limit(MAX_OPEN),
);

const openAlertsOfDomain = prepareQuery((db, param: Param<OfAccount & { domainId: string }>) =>
  selectAccountAlerts(db, param('accountId'))
    .where('alert.domain_id', '=', param('domainId'))
    .where('alert.resolved_at', 'is', null)
    .limit(MAX_OPEN),
);

interface WorklistQuery extends OfAccount {
  readonly today: Day;
  /** How many days, up to the newest of the domains. As many before are for comparison. */
  readonly days: number;
  /** One domain of the account, active or paused; without it, all active ones. */
  readonly domainId?: string | undefined;
}

interface KnownDomain {
  readonly version: string;
  readonly dates: Dates;
  readonly sum?: DomainSum | undefined;
  readonly to?: Day;
}

/** What was read of domains, by their ids. */
export type KnownDomains = Map<string, KnownDomain>;

/** Domains that are read before the event loop runs: it takes some milliseconds. */
const DOMAINS_AT_ONCE = 200;

/** Domains of an account by name, with what their next steps depend on. */
export async function readWorklist(
  reader: Reader,
  query: WorklistQuery,
  known: KnownDomains = new Map(),
) {
  const { accountId, today, days, domainId } = query;
  const states = await readStates(reader, query, known);
  const alerts = await reader.readAll(
    domainId === undefined
      ? openAlerts({ accountId })
      : openAlertsOfDomain({ accountId, domainId }),
  );
  const range = toRange(states, today, days);
  const wanted = { ...range, before: addDays(range.from, -days) };
  const ofView = (of: OfView) => sumsOfDomains({ ...of, ...wanted });
  const unsummed = states.filter(({ id }) => known.get(id)?.to !== range.to);
  for (let i = 0; i < unsummed.length; i += DOMAINS_AT_ONCE) {
    const some = unsummed.slice(i, i + DOMAINS_AT_ONCE);
    const found = await reader.readPlan(() => askByView(some, ofView));
    const byId = new Map(found.map((sum) => [sum.domain_id, sum]));
    for (const { id } of some)
      known.set(id, { ...(known.get(id) as KnownDomain), sum: byId.get(id), to: range.to });
    await yieldToOthers();
  }
  const sums = states.flatMap(({ id }) => known.get(id)?.sum ?? []);
  return { range, states, sums, alerts };
}

/** Forgets what is known of other domains. */
async function readStates(reader: Reader, query: WorklistQuery, known: KnownDomains) {
  const { accountId, today, domainId } = query;
  const of = { accountId, ...toLately(today) };
  if (domainId !== undefined)
    return await reader.readPlan(() => planStates(oneDomain({ ...of, domainId }), known));
  const states: DomainState[] = [];
  for (let isLast = false; !isLast; await yieldToOthers()) {
    const page = { after: states.at(-1)?.name ?? '', limit: DOMAINS_AT_ONCE };
    const some = await reader.readPlan(() => planStates(activeAfter({ ...of, ...page }), known));
    states.push(...some);
    isLast = some.length < DOMAINS_AT_ONCE;
  }
  const ids = new Set(states.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
  return states;
}

function* planStates(
  query: BoundQuery<RowOfQuery<typeof activeAfter>>,
  known: KnownDomains,
): Plan<DomainState[]> {
  const toVersion = ({ version, reporters }: (typeof rows)[number]) => `${version} ${reporters}`;
  const rows = yield* ask(query);
  const changed = rows.filter((row) => known.get(row.id)?.version !== toVersion(row));
  const found = yield* askByView(changed, datesOf);
  const byId = new Map(found.map(({ id, ...dates }) => [id, dates]));
  return rows.map((row) => {
    const dates = byId.get(row.id) ?? (known.get(row.id)?.dates as Dates);
    if (byId.has(row.id)) known.set(row.id, { version: toVersion(row), dates });
    return { ...row, ...dates };
  });
}

/** Reporters lag by days, so it ends with the newest day of all domains. */
function toRange(states: readonly DomainState[], today: Day, days: number): DayRange {
  const newest = states.map((state) => state.newest ?? '').filter((day) => day <= today);
  const to = newest.reduce((a, b) => (a > b ? a : b), '') || today;
  return { from: addDays(to, 1 - days), to };
}

export type Worklist = Awaited<ReturnType<typeof readWorklist>>;

/** The days of a range that count, of few domains, which the caller knows to be the account's. */
export async function readDaysOf<Domain extends Viewed>(
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
