import { type Kysely, sql } from 'kysely';
import { createPeople } from './0001-people.ts';
import { createReports } from './0001-reports.ts';
import { createSources } from './0001-sources.ts';
import { columnTypes, isPostgres } from './column-types.ts';
import { addId, addNumber, clusterByKey, updateInPlace } from './keys.ts';

export const does = 'makes all tables';
export const locks = 'nothing: the database is empty';

export async function up(db: Kysely<never>): Promise<void> {
  await createOwners(db);
  await createPeople(db);
  await createReports(db);
  await createSources(db);
  await createAlerts(db);
  await createLists(db);
  await createInbox(db);
  await createLeases(db);
}

async function createOwners(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('account')
    .addColumn('id', t.id, (c) => c.primaryKey())
    .addColumn('name', t.text, (c) => c.notNull())
    .addColumn('plan', t.text, (c) => c.notNull().check(sql`plan in ('free', 'pro')`))
    .addColumn('created_at', t.instant, (c) => c.notNull())
    .addColumn('second_factor_required', t.flag, (c) =>
      c.notNull().defaultTo(0).check(sql`second_factor_required in (0, 1)`),
    )
    .addColumn('mail_token', t.text)
    .addColumn('domains_total', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('domains_version', t.text, (c) => c.notNull())
    .addColumn('alerts_total', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_version', t.text, (c) => c.notNull())
    .addColumn('alerts_position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_nonce', t.text, (c) => c.notNull().defaultTo(''))
    .$call((table) => updateInPlace(db, table))
    .execute();
  await db.schema
    .createIndex('account_mail_token')
    .unique()
    .on('account')
    .column('mail_token')
    .execute();
  await db.schema
    .createTable('api_key')
    .addColumn('id', t.id, (c) => c.primaryKey())
    .addColumn('account_id', t.id, (c) => c.notNull().references('account.id'))
    .addColumn('name', t.text, (c) => c.notNull())
    .addColumn('prefix', t.text, (c) => c.notNull())
    .addColumn('sha256', t.bytes, (c) => c.notNull().unique())
    .addColumn('enabled', t.flag, (c) => c.notNull().check(sql`enabled in (0, 1)`))
    .addColumn('created_at', t.instant, (c) => c.notNull())
    .addColumn('last_used_at', t.instant)
    .addColumn('expires_at', t.instant)
    .execute();
  await db.schema.createIndex('api_key_account').on('api_key').column('account_id').execute();
  await db.schema
    .createTable('domain')
    .addColumn('id', t.id, (c) => c.primaryKey())
    .addColumn('account_id', t.id, (c) => c.references('account.id'))
    .addColumn('name', t.text, (c) => c.notNull().unique())
    .addColumn('status', t.text, (c) => c.notNull().check(sql`status in ('active', 'paused')`))
    .addColumn('created_at', t.instant, (c) => c.notNull())
    .addColumn('watched_since', t.instant)
    .addColumn('last_report_at', t.instant)
    .addColumn('reports_total', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('reports_version', t.text, (c) => c.notNull())
    .addColumn('reports_position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('reports_nonce', t.text, (c) => c.notNull().defaultTo(''))
    .addColumn('alerts_total', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_version', t.text, (c) => c.notNull())
    .addColumn('alerts_position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('alerts_nonce', t.text, (c) => c.notNull().defaultTo(''))
    .$call((table) => updateInPlace(db, table))
    .execute();
  await db.schema
    .createIndex('domain_list')
    .on('domain')
    .columns(['account_id', 'status', 'name'])
    .execute();
}

/** The order of a domain's alerts, and on PostgreSQL their key. */
const LIST = ['domain_id', 'fired_at', 'seq'];

async function createAlerts(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('alert')
    .$call((table) => addNumber(db, table, { name: 'alert', key: LIST }))
    .addColumn('fired_at', t.instant, (c) => c.notNull())
    .addColumn('resolved_at', t.instant)
    .addColumn('account_position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('domain_position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('update_nonce', t.count, (c) => c.notNull().defaultTo(0))
    .$call((table) => addId(db, table, { name: 'alert', key: ['domain_id'] }))
    .addColumn('account_id', t.id, (c) => c.notNull().references('account.id'))
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('type', t.text, (c) => c.notNull())
    .addColumn('subject', t.text, (c) => c.notNull().defaultTo(''))
    .addColumn('context', t.text, (c) => c.notNull())
    .execute();
  // At most one open alert for each domain, type and subject, whichever process writes it.
  await indexOpenAlerts(db, 'alert_open', ['domain_id', 'type', 'subject']).unique().execute();
  await indexOpenAlerts(db, 'alert_list_open', ['account_id', 'fired_at', 'seq']).execute();
  for (const owner of ['account', 'domain'] as const) {
    const [id, position] = [`${owner}_id`, `${owner}_position`] as const;
    const name = `alert_open_change_by_${owner}`;
    await indexOpenAlerts(db, name, [id, position, 'update_nonce']).execute();
    await db.schema
      .createIndex(`alert_change_by_${owner}`)
      .on('alert')
      .columns([id, position])
      .execute();
  }
  await db.schema
    .createIndex('alert_list_by_account_id')
    .on('alert')
    .columns(['account_id', 'fired_at', 'seq'])
    .execute();
  if (!isPostgres(db))
    await db.schema.createIndex('alert_list_by_domain_id').on('alert').columns(LIST).execute();
  await db.schema
    .createTable('dns_record')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('record_type', t.text, (c) => c.notNull())
    .addColumn('checked_at', t.instant, (c) => c.notNull())
    .addColumn('state', t.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('dns_record_key', ['domain_id', 'record_type'])
    .execute();
}

function indexOpenAlerts(db: Kysely<never>, name: string, columns: readonly string[]) {
  return db.schema
    .createIndex(name)
    .on('alert')
    .columns([...columns])
    .where(sql.ref('resolved_at'), 'is', null);
}

/** What finds a page of a list, and what came after a point of it (store/lists). */
async function createLists(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('list_day')
    .addColumn('list_id', t.id, (c) => c.notNull())
    .addColumn('day', t.day, (c) => c.notNull())
    .addColumn('items', t.count, (c) => c.notNull())
    .addPrimaryKeyConstraint('list_day_key', ['list_id', 'day'])
    .$call((table) => clusterByKey(db, table))
    .$call((table) => updateInPlace(db, table))
    .execute();
  await db.schema
    .createTable('list_point')
    .addColumn('list_id', t.id, (c) => c.notNull())
    .addColumn('position', t.count, (c) => c.notNull())
    .addColumn('nonce', t.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('list_point_key', ['list_id', 'position'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await db.schema
    .createTable('list_gap')
    .addColumn('list_id', t.id, (c) => c.notNull())
    .addColumn('position', t.count, (c) => c.notNull())
    .addColumn('nonce', t.count, (c) => c.notNull())
    .addPrimaryKeyConstraint('list_gap_key', ['list_id', 'position'])
    .$call((table) => clusterByKey(db, table))
    .execute();
}

/** Mails that came in through a door, with their bytes until they are read. */
async function createInbox(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('inbox_mail')
    .addColumn('seq', t.count, (c) => c.primaryKey().autoIncrement())
    .addColumn('id', t.id, (c) => c.notNull().unique())
    .addColumn('door', t.text, (c) => c.notNull())
    .addColumn('envelope', t.text, (c) => c.notNull())
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('byte_count', t.count, (c) => c.notNull())
    .addColumn('sha256', t.text, (c) => c.notNull())
    .addColumn('account_id', t.id, (c) => c.references('account.id'))
    .addColumn('key_sha256', t.bytes, (c) => c.unique())
    .addColumn('state', t.text, (c) =>
      c.notNull().check(sql`state in ('waiting', 'claimed', 'stuck', 'done')`),
    )
    .addColumn('due_at', t.instant)
    .addColumn('tries', t.number, (c) => c.notNull().defaultTo(0))
    .addColumn('claimed_by', t.text)
    .addColumn('last_error', t.text)
    .addColumn('result', t.text)
    .addColumn('counts', t.text)
    .addColumn('reason', t.text)
    .addColumn('done_at', t.instant)
    .execute();
  const indexes = { due: ['due_at', 'seq'], door: ['door', 'seq'], state: ['state', 'done_at'] };
  for (const [name, columns] of Object.entries(indexes))
    await db.schema.createIndex(`inbox_mail_${name}`).on('inbox_mail').columns(columns).execute();
  // Parts are stored before their mail, so that a mail in the inbox is always complete.
  await db.schema
    .createTable('inbox_part')
    .addColumn('mail_id', t.id, (c) => c.notNull())
    .addColumn('part', t.number, (c) => c.notNull())
    .addColumn('stored_at', t.instant, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('inbox_part_key', ['mail_id', 'part'])
    .execute();
  await db.schema.createIndex('inbox_part_stored').on('inbox_part').column('stored_at').execute();
  await db.schema
    .createTable('door_state')
    .addColumn('door', t.text, (c) => c.primaryKey())
    .addColumn('noted_at', t.instant, (c) => c.notNull())
    .addColumn('last_error', t.text)
    .addColumn('last_error_at', t.instant)
    .addColumn('checkpoint', t.text)
    .execute();
}

/** Which process does which share of the work that is not answering requests (store/work/leases.ts). */
async function createLeases(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('lease')
    .addColumn('name', t.text, (c) => c.primaryKey())
    .addColumn('holder', t.text)
    .addColumn('expires_at', t.instant)
    .addColumn('ran_at', t.instant)
    .$call((table) => updateInPlace(db, table))
    .execute();
}
