import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import { selectAccountAlerts } from '../alerts/alerts.ts';
import { dataDaysOf, isInView, type Lately, toLately, viewOf } from '../days/believed.ts';
import { selectStated } from '../days/stated-policy.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import type { Tables } from '../tables.ts';
import { openProposals } from './proposals.ts';

/*
 * What the overview ranks all active domains of an account by. Days are added up in the database: of two hundred domains
 * with sixty days each that is 12,000 rows.
 */

type OfAccount = { accountId: string };
/** JSON of the ids of domains, which the caller knows to be the account's, and of those that count all reporters. */
type Listed = { ids: string; all: string };

/** An account with more has its first ones by name on the overview. */
const MAX_DOMAINS = 5_000;

type DomainState = RowOfQuery<typeof statesOfAccount>;

/** Domains with whose reports count, their days, and the policy of the newest day whose reports state one. */
const statesOfAccount = prepareQuery((db, param: Param<OfAccount & Lately>) =>
  db
    .selectFrom('domain')
    .select(['id', 'name', 'status', 'last_report_at', 'sends_no_mail'])
    .select(viewOf(db, sql.ref('domain.id'), param).as('reporters'))
    .select(dataDaysOf(db, param))
    .select((eb) =>
      selectStated(db, eb.ref('domain.id'), viewOf(db, eb.ref('domain.id'), param))
        .select('policy')
        .as('policy'),
    )
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .orderBy('name')
    .limit(MAX_DOMAINS),
);

/** Domains, and those of them that count all reporters, as queries of days take them. */
export function listOf(domains: readonly Pick<DomainState, 'id' | 'reporters'>[]): Listed {
  const toIds = (some: typeof domains) => JSON.stringify(some.map(({ id }) => id));
  return { ids: toIds(domains), all: toIds(domains.filter((one) => one.reporters === 'all')) };
}

type DaysOfDomains = Listed & { from: Day; to: Day };

/** Whether a row of `domain_day` counts for its domain. */
function isCounted<P extends Listed>(db: Kysely<Tables>, param: Param<P>) {
  const isOfAll = dialectOf(db).isIn(sql.ref('domain_id'), param('all'), 'uuid');
  return isInView(sql`case when ${isOfAll} then 'all' else 'established' end`);
}

/** Adds up the days from `from` on, the days before, and what does not count. */
export const sumsOfDomains = prepareQuery((db, param: Param<DaysOfDomains & { before: Day }>) => {
  const isCountedRow = isCounted(db, param);
  const counted = sql<SqlBool>`${isCountedRow} and day >= ${param('from')}`;
  const before = sql<SqlBool>`${isCountedRow} and day < ${param('from')}`;
  const aside = sql<SqlBool>`not ${isCountedRow} and day >= ${param('from')}`;
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
      sumOf('aligned', aside).as('asideAligned'),
      sql<number>`count(distinct case when ${counted} and messages > 0 then day end)`.as(
        'dataDays',
      ),
    ])
    .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
    .where('day', '>=', param('before'))
    .where('day', '<=', param('to'))
    .groupBy('domain_id');
});

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
  const [states, records, alerts, proposals] = await reader.readPlan(() =>
    askAll(
      statesOfAccount({ accountId, ...toLately(today) }),
      recordsOfAccount({ accountId }),
      openAlerts({ accountId }),
      openProposals({ accountId }),
    ),
  );
  const range = toRange(states, today, days);
  const sums: RowOfQuery<typeof sumsOfDomains>[] = [];
  for (let i = 0; i < states.length; i += DOMAINS_AT_ONCE) {
    const some = listOf(states.slice(i, i + DOMAINS_AT_ONCE));
    const wanted = { ...some, ...range, before: addDays(range.from, -days) };
    sums.push(...(await reader.readAll(sumsOfDomains(wanted))));
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

export const daysOfDomains = prepareQuery((db, param: Param<DaysOfDomains>) =>
  db
    .selectFrom('domain_day')
    .select(['domain_id', 'day', sumOf('messages').as('messages'), sumOf('aligned').as('aligned')])
    .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .where(isCounted(db, param))
    .groupBy(['domain_id', 'day']),
);
