import type { Kysely } from 'kysely';

/**
 * Gives each thing its own word: a *source* is a file or mail that came in, a *document* is one XML text
 * within it, and a *source IP* is an address that sent mail.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('document').renameTo('source').execute();
  await db.schema.alterTable('source').renameColumn('source', 'name').execute();
  await db.schema.alterTable('document_part').renameTo('source_part').execute();
  for (const table of ['source_part', 'report', 'conflict', 'rejection'])
    await db.schema.alterTable(table).renameColumn('document_seq', 'source_seq').execute();
  await db.schema.alterTable('domain_source').renameTo('domain_source_ip').execute();
}
