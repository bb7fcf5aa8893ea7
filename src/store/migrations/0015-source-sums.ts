import { type Kysely, sql } from 'kysely';
import { clusterByKey } from './cluster-by-key.ts';

/** Sums of what addresses sent in longer periods than a day (decision 103). */
export async function up(db: Kysely<never>): Promise<void> {
  await createPeriods(db);
  await createSums(db);
  await queueDays(db);
}

async function createPeriods(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('source_period')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('period', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull().check(sql`state in ('stale', 'summed', 'days')`))
    .addPrimaryKeyConstraint('source_period_key', ['domain_id', 'period'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await sql`
    create index source_period_stale on source_period (domain_id, period)
      where state = 'stale'`.execute(db);
}

/** The sums of a quarter can be more than 2^53, where counts stop (decision 1.18). They fit into an int64. */
async function createSums(db: Kysely<never>): Promise<void> {
  let table = db.schema
    .createTable('source_sum')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('period', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull());
  for (const column of ['messages', 'aligned', 'dkim_aligned', 'spf_aligned'])
    table = table.addColumn(column as never, 'bigint', (c) => c.notNull());
  await table
    .addColumn('first_day', 'text', (c) => c.notNull())
    .addColumn('last_day', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_sum_key', ['domain_id', 'period', 'address'])
    .$call((made) => clusterByKey(db, made))
    .execute();
}

const MONTH = sql`substr(day, 1, 7)`;
const THIRD = sql`substr(day, 1, 8) || case substr(day, 9, 1) when '3' then '2' else substr(day, 9, 1) end`;
const QUARTER = sql`substr(day, 1, 5) || 'Q' || ((cast(substr(day, 6, 2) as integer) + 2) / 3)`;

/** The periods of the days that are stored. Those with few rows are not worth sums as long as they do not change. */
async function queueDays(db: Kysely<never>): Promise<void> {
  for (const period of [THIRD, MONTH, QUARTER])
    await sql`
      insert into source_period (domain_id, period, state)
      select domain_id, period, case when sum(sources) < 500 then 'days' else 'stale' end
      from (select domain_id, sources, ${period} as period from domain_day) as counted
      group by domain_id, period`.execute(db);
}
