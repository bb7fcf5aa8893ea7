import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import { selectAccountAlerts } from '../alerts/alerts.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { openProposals } from './proposals.ts';

/*
 * What the overview ranks all active domains of an account by. Days are added up in the database: of two hundred domains
 * with sixty days each that is 12,000 rows.
 */

type OfAccount = { accountId: string };

/** An account with more has its first ones by name on the overview. */
const MAX_DOMAINS = 5_000;

type DomainState = RowOfQuery<typeof statesOfAccount>;

/**
 * Domains with the first and the newest day that reports begin on, and the policy of the newest day whose reports state
 * one. `min` and `max` of one query would read all of a domain's days on SQLite.
 */
const statesOfAccount = prepareQuery((db, param: Param<OfAccount>) =>
  db
    .selectFrom('domain')
    .select(['id', 'name', 'status', 'last_report_at'])
    .select((eb) => {
      const days = eb.selectFrom('domain_day').whereRef('domain_id', '=', 'domain.id');
      const stated = days.select('policy').where('policy', 'is not', null);
      return [
        days.select(({ fn }) => fn.min('day').as('day')).as('oldest'),
        days.select(({ fn }) => fn.max('day').as('day')).as('newest'),
        stated.orderBy('day', 'desc').limit(1).as('policy'),
      ];
    })
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .orderBy('name')
    .limit(MAX_DOMAINS),
);

/** JSON of the ids of domains, which the caller knows to be the account's. */
type DaysOfDomains = { ids: string; from: Day; to: Day };

/** Adds up the days from `from` on, and the days before. */
export const sumsOfDomains = prepareQuery((db, param: Param<DaysOfDomains & { before: Day }>) =>
  db
    .selectFrom('domain_day')
    .select((eb) => {
      const since = param('from');
      return [
        'domain_id',
        sumWhere('messages', sql`day >= ${since}`).as('messages'),
        sumWhere('aligned', sql`day >= ${since}`).as('aligned'),
        sumWhere('messages', sql`day < ${since}`).as('messagesBefore'),
        sumWhere('aligned', sql`day < ${since}`).as('alignedBefore'),
        eb.fn
          .countAll<number>()
          .filterWhere('messages', '>', 0)
          .filterWhere('day', '>=', since)
          .as('dataDays'),
      ];
    })
    .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
    .where('day', '>=', param('before'))
    .where('day', '<=', param('to'))
    .groupBy('domain_id'),
);

/** It stops at 2^53 − 1, as every count. */
function sumWhere(column: 'messages' | 'aligned', condition: RawBuilder<unknown>) {
  const sum = sql`sum(case when ${condition} then ${sql.ref(column)} else 0 end)`;
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`cast(case when ${sum} > ${max} then ${max} else ${sum} end as bigint)`;
}

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
      statesOfAccount({ accountId }),
      recordsOfAccount({ accountId }),
      openAlerts({ accountId }),
      openProposals({ accountId }),
    ),
  );
  const range = toRange(states, today, days);
  const sums: RowOfQuery<typeof sumsOfDomains>[] = [];
  for (let i = 0; i < states.length; i += DOMAINS_AT_ONCE) {
    const ids = JSON.stringify(states.slice(i, i + DOMAINS_AT_ONCE).map(({ id }) => id));
    const wanted = { ids, ...range, before: addDays(range.from, -days) };
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
    .select(['domain_id', 'day', 'messages', 'aligned'])
    .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);
