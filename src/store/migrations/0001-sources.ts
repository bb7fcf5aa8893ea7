import { type Kysely, sql } from 'kysely';
import { columnTypes } from './column-types.ts';
import { clusterByKey } from './keys.ts';

/** What is known of the addresses that send in a domain's name. */
export async function createSources(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('source_name')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('address', t.address, (c) => c.notNull())
    .addColumn('name', t.text)
    .addColumn('expires_at', t.instant, (c) => c.notNull())
    .addPrimaryKeyConstraint('source_name_key', ['domain_id', 'address'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await db.schema
    .createTable('source_mark')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('address', t.address, (c) => c.notNull())
    .addColumn('mark', t.text, (c) => c.notNull().check(sql`mark in ('legitimate', 'unknown')`))
    .addColumn('marked_at', t.instant, (c) => c.notNull())
    .addColumn('marked_by', t.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('source_mark_key', ['domain_id', 'address'])
    .$call((table) => clusterByKey(db, table))
    .execute();
}
