import type { Kysely } from 'kysely';

/** Which process does which share of the work that is not answering requests (store/work/leases.ts). */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('lease')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('ran_at', 'text')
    .execute();
}
