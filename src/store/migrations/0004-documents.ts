import { type Kysely, sql } from 'kysely';

/** Large originals in parts, rejections by their position in the source, and removed payloads. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('document_part')
    .addColumn('document_seq', 'integer', (c) => c.notNull().references('document.seq'))
    .addColumn('part', 'integer', (c) => c.notNull())
    .addColumn('content', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('document_part_key', ['document_seq', 'part'])
    .execute();
  await numberRejections(db);
  await db.schema
    .createTable('removed_payload')
    .addColumn('report_id', 'text', (c) => c.notNull())
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('removed_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('removed_payload_key', ['report_id', 'payload_sha256'])
    .execute();
  await indexReceipts(db);
}

/** Rejections and conflicts are listed by the time they were received. */
async function indexReceipts(db: Kysely<never>): Promise<void> {
  for (const table of ['rejection', 'conflict'] as const) {
    await db.schema
      .createIndex(`${table}_received`)
      .on(table)
      .columns(['received_at', 'seq'])
      .execute();
  }
}

/** Reading a source again, after a reading was interrupted, finds its rejections by their number. */
async function numberRejections(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('rejection')
    .addColumn('ordinal', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`
    update rejection set ordinal = (
      select count(*) from rejection as earlier
      where earlier.document_seq = rejection.document_seq and earlier.seq < rejection.seq)`.execute(
    db,
  );
  await db.schema.dropIndex('rejection_document').execute();
  await db.schema
    .createIndex('rejection_once')
    .unique()
    .on('rejection')
    .columns(['document_seq', 'ordinal'])
    .execute();
}
