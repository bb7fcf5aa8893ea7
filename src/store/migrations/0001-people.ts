import { type Kysely, sql } from 'kysely';
import { columnTypes } from './column-types.ts';
import { clusterByKey } from './keys.ts';

export async function createPeople(db: Kysely<never>): Promise<void> {
  await createPersons(db);
  await createSessions(db);
  await createSecondFactors(db);
  await createAudit(db);
}

async function createPersons(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('person')
    .addColumn('id', t.id, (c) => c.primaryKey())
    .addColumn('account_id', t.id, (c) => c.notNull().references('account.id'))
    .addColumn('email', t.text, (c) => c.notNull())
    .addColumn('email_key', t.text, (c) => c.notNull().unique())
    .addColumn('role', t.text, (c) =>
      c.notNull().defaultTo('member').check(sql`role in ('owner', 'member')`),
    )
    .addColumn('password_hash', t.text)
    .addColumn('single_sign_on', t.text, (c) => c.unique())
    .addColumn('disabled', t.flag, (c) => c.notNull().check(sql`disabled in (0, 1)`))
    .addColumn('created_at', t.instant, (c) => c.notNull())
    .addColumn('last_signed_in_at', t.instant)
    .execute();
  await db.schema.createIndex('person_account').on('person').column('account_id').execute();
  await db.schema
    .createTable('one_time_link')
    .addColumn('sha256', t.bytes, (c) => c.primaryKey())
    .addColumn('person_id', t.id, (c) => c.notNull().references('person.id').unique())
    .addColumn('expires_at', t.instant, (c) => c.notNull())
    .execute();
}

async function createSessions(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('session')
    .addColumn('id', t.id, (c) => c.primaryKey())
    .addColumn('person_id', t.id, (c) => c.notNull().references('person.id'))
    .addColumn('sha256', t.bytes, (c) => c.notNull().unique())
    .addColumn('created_at', t.instant, (c) => c.notNull())
    .addColumn('last_seen_at', t.instant, (c) => c.notNull())
    .addColumn('expires_at', t.instant, (c) => c.notNull())
    .addColumn('address', t.text, (c) => c.notNull())
    .addColumn('user_agent', t.text, (c) => c.notNull())
    .addColumn('single_sign_on', t.flag, (c) =>
      c.notNull().defaultTo(0).check(sql`single_sign_on in (0, 1)`),
    )
    .addColumn('notice', t.text)
    .execute();
  await db.schema.createIndex('session_person').on('session').column('person_id').execute();
}

async function createSecondFactors(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('second_factor')
    .addColumn('person_id', t.id, (c) => c.primaryKey().references('person.id'))
    .addColumn('sealed_secret', t.text, (c) => c.notNull())
    .addColumn('confirmed_at', t.instant)
    .addColumn('last_step', t.count, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('recovery_code')
    .addColumn('person_id', t.id, (c) => c.notNull().references('person.id'))
    .addColumn('sha256', t.bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('recovery_code_key', ['person_id', 'sha256'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await db.schema
    .createTable('pending_sign_in')
    .addColumn('sha256', t.bytes, (c) => c.primaryKey())
    .addColumn('person_id', t.id, (c) => c.notNull().references('person.id'))
    .addColumn('expires_at', t.instant, (c) => c.notNull())
    .execute();
  const indexes = { person: 'person_id', expiry: 'expires_at' };
  for (const [name, column] of Object.entries(indexes))
    await db.schema
      .createIndex(`pending_sign_in_${name}`)
      .on('pending_sign_in')
      .column(column)
      .execute();
}

async function createAudit(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('audit')
    .addColumn('seq', t.count, (c) => c.primaryKey().autoIncrement())
    .addColumn('account_id', t.id, (c) => c.notNull().references('account.id'))
    .addColumn('at', t.instant, (c) => c.notNull())
    .addColumn('actor', t.text, (c) => c.notNull())
    .addColumn('action', t.text, (c) => c.notNull())
    .addColumn('subject', t.text, (c) => c.notNull())
    .addColumn('detail', t.text, (c) => c.notNull())
    .addColumn('address', t.text)
    .execute();
  await db.schema.createIndex('audit_list').on('audit').columns(['account_id', 'seq']).execute();
}
