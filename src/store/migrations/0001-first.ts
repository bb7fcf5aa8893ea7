import { type Kysely, sql } from 'kysely';

// Text is compared byte by byte on every engine. Only the type of the arrival key differs between engines.

/** Accounts, keys, domains, documents, reports and alerts, each list with its head. */
export async function up(db: Kysely<never>): Promise<void> {
  await createOwners(db);
  await createReports(db);
  await createAlerts(db);
  await createCounts(db);
}

async function createOwners(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('account')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('plan', 'text', (c) => c.notNull().check(sql`plan in ('free', 'pro')`))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('domains_total', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('domains_version', 'text', (c) => c.notNull())
    .addColumn('alerts_total', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_version', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('api_key')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('account.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('prefix', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('enabled', 'integer', (c) => c.notNull().check(sql`enabled in (0, 1)`))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text')
    .execute();
  await db.schema.createIndex('api_key_account').on('api_key').column('account_id').execute();
  await db.schema
    .createTable('domain')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.references('account.id'))
    .addColumn('name', 'text', (c) => c.notNull().unique())
    .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('active', 'paused')`))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_report_at', 'text')
    .addColumn('reports_total', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('reports_version', 'text', (c) => c.notNull())
    .addColumn('alerts_total', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_version', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('domain_list')
    .on('domain')
    .columns(['account_id', 'status', 'name'])
    .execute();
}

async function createReports(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('document')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addColumn('byte_count', 'bigint', (c) => c.notNull())
    .addColumn('encoding', 'text', (c) => c.notNull())
    .addColumn('content', 'blob', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('report')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('document_seq', 'integer', (c) => c.notNull().references('document.seq'))
    .addColumn('member', 'text')
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addColumn('reporter_org', 'text')
    .addColumn('reporter_email', 'text')
    .addColumn('report_id', 'text')
    .addColumn('begin_date', 'text', (c) => c.notNull())
    .addColumn('end_date', 'text', (c) => c.notNull())
    .addColumn('record_count', 'bigint', (c) => c.notNull())
    .addColumn('total_messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned_messages', 'bigint', (c) => c.notNull())
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('xml_namespace', 'text')
    .addColumn('version', 'text')
    .addColumn('warnings', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('report_list')
    .on('report')
    .columns(['domain_id', 'begin_date', 'seq'])
    .execute();
  await db.schema
    .createTable('conflict')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('report_seq', 'integer', (c) => c.notNull().references('report.seq'))
    .addColumn('document_seq', 'integer', (c) => c.notNull().references('document.seq'))
    .addColumn('member', 'text')
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('conflict_once', ['report_seq', 'payload_sha256'])
    .execute();
  await db.schema
    .createTable('rejection')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('document_seq', 'integer', (c) => c.notNull().references('document.seq'))
    .addColumn('member', 'text')
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('place', 'text')
    .addColumn('received_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('rejection_document')
    .on('rejection')
    .column('document_seq')
    .execute();
}

async function createAlerts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('alert')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('account_id', 'text', (c) => c.notNull().references('account.id'))
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('fired_at', 'text', (c) => c.notNull())
    .addColumn('resolved_at', 'text')
    .addColumn('context', 'text', (c) => c.notNull())
    .execute();
  for (const owner of ['account_id', 'domain_id'] as const) {
    await db.schema
      .createIndex(`alert_list_by_${owner}`)
      .on('alert')
      .columns([owner, 'fired_at', 'seq'])
      .execute();
  }
}

async function createCounts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('domain_day')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('reports', 'bigint', (c) => c.notNull())
    .addColumn('messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_day_key', ['domain_id', 'day'])
    .execute();
  for (const period of ['month', 'day'] as const) {
    await db.schema
      .createTable(`list_${period}`)
      .addColumn('list_id', 'text', (c) => c.notNull())
      .addColumn(period, 'text', (c) => c.notNull())
      .addColumn('items', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint(`list_${period}_key`, ['list_id', period])
      .execute();
  }
}
