import { type Kysely, sql } from 'kysely';
import { clusterByKey } from './keys.ts';

/** What addresses sent in a domain's name, by day and by longer period, and what is known of them. */
export async function createSources(db: Kysely<never>): Promise<void> {
  await createDays(db);
  await createPeriods(db);
  await createNames(db);
}

async function createDays(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('domain_source_ip')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned', 'bigint', (c) => c.notNull())
    .addColumn('dkim_aligned', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('spf_aligned', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('details', 'text', (c) => c.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('domain_source_key', ['domain_id', 'day', 'address'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await db.schema
    .createIndex('domain_source_history')
    .on('domain_source_ip')
    .columns(['domain_id', 'address', 'day'])
    .execute();
  // What the details refer to (decision 92).
  await db.schema
    .createTable('source_text')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('month', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('text', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_text_key', ['domain_id', 'month', 'id'])
    .$call((table) => clusterByKey(db, table))
    .execute();
}

/** Sums of what addresses sent in longer periods than a day (decision 103). */
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
  // Counts of a report stop at 2^53 − 1. The sums of a quarter can be more; they fit into an int64.
  await db.schema
    .createTable('source_sum')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('period', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned', 'bigint', (c) => c.notNull())
    .addColumn('dkim_aligned', 'bigint', (c) => c.notNull())
    .addColumn('spf_aligned', 'bigint', (c) => c.notNull())
    .addColumn('first_day', 'text', (c) => c.notNull())
    .addColumn('last_day', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_sum_key', ['domain_id', 'period', 'address'])
    .$call((table) => clusterByKey(db, table))
    .execute();
}

async function createNames(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('source_name')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_name_key', ['domain_id', 'address'])
    .execute();
  await db.schema
    .createTable('source_mark')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('mark', 'text', (c) => c.notNull().check(sql`mark in ('legitimate', 'unknown')`))
    .addColumn('marked_at', 'text', (c) => c.notNull())
    .addColumn('marked_by', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_mark_key', ['domain_id', 'address'])
    .execute();
}
