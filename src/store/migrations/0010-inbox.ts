import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

/** The inbox: mails that came in through a door, with their bytes until they are read; and each account's address. */
export async function up(db: Kysely<never>): Promise<void> {
  await createMails(db);
  await createParts(db);
  await db.schema
    .createTable('door_state')
    .addColumn('door', 'text', (c) => c.primaryKey())
    .addColumn('noted_at', 'text', (c) => c.notNull())
    .addColumn('last_error', 'text')
    .addColumn('last_error_at', 'text')
    .addColumn('checkpoint', 'text')
    .execute();
  await addAddresses(db);
}

async function createMails(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('inbox_mail')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('door', 'text', (c) => c.notNull())
    .addColumn('envelope', 'text', (c) => c.notNull())
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addColumn('byte_count', 'bigint', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull())
    .addColumn('account_id', 'text', (c) => c.references('account.id'))
    .addColumn('key_sha256', 'text', (c) => c.unique())
    .addColumn('state', 'text', (c) =>
      c.notNull().check(sql`state in ('waiting', 'claimed', 'stuck', 'done')`),
    )
    .addColumn('due_at', 'text')
    .addColumn('tries', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('claimed_by', 'text')
    .addColumn('last_error', 'text')
    .addColumn('result', 'text')
    .addColumn('counts', 'text')
    .addColumn('reason', 'text')
    .addColumn('done_at', 'text')
    .execute();
  const indexes = { due: ['due_at', 'seq'], door: ['door', 'seq'], state: ['state', 'done_at'] };
  for (const [name, columns] of Object.entries(indexes))
    await db.schema.createIndex(`inbox_mail_${name}`).on('inbox_mail').columns(columns).execute();
}

/** Parts are stored before their mail, so that a mail in the inbox is always complete. */
async function createParts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('inbox_part')
    .addColumn('mail_id', 'text', (c) => c.notNull())
    .addColumn('part', 'integer', (c) => c.notNull())
    .addColumn('stored_at', 'text', (c) => c.notNull())
    .addColumn('content', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('inbox_part_key', ['mail_id', 'part'])
    .execute();
  await db.schema.createIndex('inbox_part_stored').on('inbox_part').column('stored_at').execute();
}

async function addAddresses(given: Kysely<never>): Promise<void> {
  await given.schema.alterTable('account').addColumn('mail_token', 'text').execute();
  const db = given as unknown as Kysely<{ account: { id: string; mail_token: string | null } }>;
  for (const { id } of await db.selectFrom('account').select('id').execute())
    await db.updateTable('account').set({ mail_token: newToken() }).where('id', '=', id).execute();
  await given.schema
    .createIndex('account_mail_token')
    .unique()
    .on('account')
    .column('mail_token')
    .execute();
}

/** As domain/access/mail-token.ts made them when this migration was written. */
function newToken(): string {
  return Array.from({ length: 16 }, () => randomInt(36).toString(36)).join('');
}
