import type { Kysely } from 'kysely';

/** Pages are found by counts of days alone, and gaps are counted when they are asked for (store/lists). */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.dropTable('list_month').execute();
  await db.schema.dropTable('list_gap_block').execute();
}
