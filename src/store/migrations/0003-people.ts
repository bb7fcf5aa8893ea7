import { type Kysely, sql } from 'kysely';

/** People, their sessions and one-time links, and the audit of changes to keys. */
export async function up(db: Kysely<never>): Promise<void> {
  await createPeople(db);
  await createAudit(db);
}

async function createPeople(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('person')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull().references('account.id'))
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_key', 'text', (c) => c.notNull().unique())
    .addColumn('password_hash', 'text')
    .addColumn('single_sign_on', 'text', (c) => c.unique())
    .addColumn('disabled', 'integer', (c) => c.notNull().check(sql`disabled in (0, 1)`))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('person_account').on('person').column('account_id').execute();
  await db.schema
    .createTable('session')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('person_id', 'text', (c) => c.notNull().references('person.id'))
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_seen_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .addColumn('notice', 'text')
    .execute();
  await db.schema.createIndex('session_person').on('session').column('person_id').execute();
  await db.schema
    .createTable('one_time_link')
    .addColumn('sha256', 'text', (c) => c.primaryKey())
    .addColumn('person_id', 'text', (c) => c.notNull().references('person.id').unique())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
}

async function createAudit(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('account_id', 'text', (c) => c.notNull().references('account.id'))
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('key_name', 'text', (c) => c.notNull())
    .addColumn('key_prefix', 'text', (c) => c.notNull())
    .addColumn('address', 'text')
    .execute();
  await db.schema.createIndex('audit_list').on('audit').columns(['account_id', 'seq']).execute();
  await db.schema
    .createIndex('alert_list_open')
    .on('alert')
    .columns(['account_id', 'fired_at', 'seq'])
    .where(sql.ref('resolved_at'), 'is', null)
    .execute();
}
