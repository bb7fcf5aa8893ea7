import { type Kysely, sql } from 'kysely';

/** What is known of the addresses that send in a domain's name. */
export async function createSources(db: Kysely<never>): Promise<void> {
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
