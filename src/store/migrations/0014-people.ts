import { type Kysely, sql } from 'kysely';

/** Owners, second factors, expiry dates of keys, and an audit of more than keys. */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db);
  await markSingleSignOn(db);
  await chooseOwners(db);
  await createSecondFactors(db);
  await createPendingSignIns(db);
  await widenAudit(db);
}

async function addColumns(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('account')
    .addColumn('second_factor_required', 'integer', (c) =>
      c.notNull().defaultTo(0).check(sql`second_factor_required in (0, 1)`),
    )
    .execute();
  await db.schema.alterTable('api_key').addColumn('expires_at', 'text').execute();
  await db.schema
    .alterTable('person')
    .addColumn('role', 'text', (c) =>
      c.notNull().defaultTo('member').check(sql`role in ('owner', 'member')`),
    )
    .execute();
  await db.schema.alterTable('person').addColumn('last_signed_in_at', 'text').execute();
  await db.schema
    .alterTable('session')
    .addColumn('single_sign_on', 'integer', (c) =>
      c.notNull().defaultTo(0).check(sql`single_sign_on in (0, 1)`),
    )
    .execute();
}

/**
 * Sessions of people without a password began at the OpenID provider. Without this, they could need a second factor.
 */
async function markSingleSignOn(db: Kysely<never>): Promise<void> {
  await sql`
    update session set single_sign_on = 1
      where person_id in (select id from person where password_hash is null)`.execute(db);
}

/** The first person of each account who is not disabled; the first of all where everybody is disabled. */
async function chooseOwners(db: Kysely<never>): Promise<void> {
  await sql`
    update person set role = 'owner' where id in (
      select one.id from person as one where not exists (
        select 1 from person as other where other.account_id = one.account_id
          and (other.disabled, other.created_at, other.id) < (one.disabled, one.created_at, one.id)))`.execute(
    db,
  );
  await sql`
    update person set last_signed_in_at = (
      select max(session.created_at) from session where session.person_id = person.id)`.execute(db);
}

async function createSecondFactors(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('second_factor')
    .addColumn('person_id', 'text', (c) => c.primaryKey().references('person.id'))
    .addColumn('sealed_secret', 'text', (c) => c.notNull())
    .addColumn('confirmed_at', 'text')
    .addColumn('last_step', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('recovery_code')
    .addColumn('person_id', 'text', (c) => c.notNull().references('person.id'))
    .addColumn('sha256', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('recovery_code_key', ['person_id', 'sha256'])
    .execute();
}

async function createPendingSignIns(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('pending_sign_in')
    .addColumn('sha256', 'text', (c) => c.primaryKey())
    .addColumn('person_id', 'text', (c) => c.notNull().references('person.id'))
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('pending_sign_in_person')
    .on('pending_sign_in')
    .column('person_id')
    .execute();
  await db.schema
    .createIndex('pending_sign_in_expiry')
    .on('pending_sign_in')
    .column('expires_at')
    .execute();
}

/** An entry about a key keeps the key's name and prefix. */
async function widenAudit(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('audit').renameColumn('key_name', 'subject').execute();
  await db.schema.alterTable('audit').renameColumn('key_prefix', 'detail').execute();
  await sql`update audit set action = 'key_' || action`.execute(db);
}
