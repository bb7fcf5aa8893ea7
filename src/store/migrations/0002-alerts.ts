import { type Kysely, sql } from 'kysely';
import { clusterByKey } from './cluster-by-key.ts';

/**
 * Tables for alerts: sources, receipts and DNS records by domain, and a subject, with one open alert for
 * each.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await limitOpenAlerts(db);
  await createSources(db);
  await createReceipts(db);
  await createDnsRecords(db);
  await db.schema.alterTable('domain').addColumn('watched_since', 'text').execute();
}

/** At most one open alert for each domain, type and subject, whichever process writes it. */
async function limitOpenAlerts(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('alert')
    .addColumn('subject', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  // Alerts from before this migration have no subject; each gets its own id.
  await sql`update alert set subject = id`.execute(db);
  await db.schema
    .createIndex('alert_open')
    .unique()
    .on('alert')
    .columns(['domain_id', 'type', 'subject'])
    .where(sql.ref('resolved_at'), 'is', null)
    .execute();
}

async function createSources(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('domain_day')
    .addColumn('sources', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('domain_source')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_source_key', ['domain_id', 'day', 'address'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await db.schema
    .createIndex('domain_source_history')
    .on('domain_source')
    .columns(['domain_id', 'address', 'day'])
    .execute();
}

async function createReceipts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('domain_receipt')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('reports', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_receipt_key', ['domain_id', 'day'])
    .execute();
  await sql`
    insert into domain_receipt (domain_id, day, reports)
    select domain_id, substr(received_at, 1, 10), count(*) from report
    group by domain_id, substr(received_at, 1, 10)`.execute(db);
}

async function createDnsRecords(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('dns_record')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('record_type', 'text', (c) => c.notNull())
    .addColumn('checked_at', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('dns_record_key', ['domain_id', 'record_type'])
    .execute();
}
