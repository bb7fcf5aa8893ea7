import type { Kysely } from 'kysely';
import { addId, addNumber, addReportOfConflict, indexWithoutDomain } from './keys.ts';

/** Inputs with their original bytes, what became of their documents, and what a domain's reports count. */
export async function createReports(db: Kysely<never>): Promise<void> {
  await createInputs(db);
  await createDocuments(db);
  await createCounts(db);
}

async function createInputs(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('source')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addColumn('byte_count', 'bigint', (c) => c.notNull())
    .addColumn('encoding', 'text', (c) => c.notNull())
    .addColumn('content', 'blob', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('source_part')
    .addColumn('source_seq', 'integer', (c) => c.notNull().references('source.seq'))
    .addColumn('part', 'integer', (c) => c.notNull())
    .addColumn('content', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_part_key', ['source_seq', 'part'])
    .execute();
}

async function createDocuments(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('report')
    .$call((table) => addNumber(db, table, 'report'))
    .$call((table) => addId(db, table, 'report'))
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('source_seq', 'integer', (c) => c.notNull().references('source.seq'))
    .addColumn('member', 'text')
    .addColumn('received_at', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('reporter_org', 'text')
    .addColumn('reporter_email', 'text')
    .addColumn('report_id', 'text')
    .addColumn('begin_date', 'text', (c) => c.notNull())
    .addColumn('end_date', 'text', (c) => c.notNull())
    .addColumn('record_count', 'bigint', (c) => c.notNull())
    .addColumn('total_messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned_messages', 'bigint', (c) => c.notNull())
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('xml_namespace', 'text')
    .addColumn('version', 'text')
    .addColumn('warnings', 'text', (c) => c.notNull())
    .execute();
  await indexWithoutDomain(db, 'report', ['seq', 'id']);
  const indexes = { list: ['domain_id', 'begin_date', 'seq'], arrival: ['domain_id', 'position'] };
  for (const [name, columns] of Object.entries(indexes))
    await db.schema.createIndex(`report_${name}`).on('report').columns(columns).execute();
  await db.schema
    .createTable('conflict')
    .$call((table) => addNumber(db, table, 'conflict'))
    .$call((table) => addReportOfConflict(db, table))
    .addColumn('source_seq', 'integer', (c) => c.notNull().references('source.seq'))
    .addColumn('member', 'text')
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('received_at', 'text', (c) => c.notNull())
    .execute();
  await indexWithoutDomain(db, 'conflict', ['seq']);
  await db.schema
    .createTable('rejection')
    .addColumn('seq', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('source_seq', 'integer', (c) => c.notNull().references('source.seq'))
    .addColumn('ordinal', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('member', 'text')
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('place', 'text')
    .addColumn('received_at', 'text', (c) => c.notNull())
    .execute();
  // Reading an input again, after a reading was interrupted, finds its rejections by their number.
  await db.schema
    .createIndex('rejection_once')
    .unique()
    .on('rejection')
    .columns(['source_seq', 'ordinal'])
    .execute();
  for (const table of ['rejection', 'conflict'] as const)
    await db.schema
      .createIndex(`${table}_received`)
      .on(table)
      .columns(['received_at', 'seq'])
      .execute();
  await db.schema
    .createTable('removed_payload')
    .addColumn('report_id', 'text', (c) => c.notNull())
    .addColumn('payload_sha256', 'text', (c) => c.notNull())
    .addColumn('removed_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('removed_payload_key', ['report_id', 'payload_sha256'])
    .execute();
}

async function createCounts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('domain_day')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('reports', 'bigint', (c) => c.notNull())
    .addColumn('messages', 'bigint', (c) => c.notNull())
    .addColumn('aligned', 'bigint', (c) => c.notNull())
    .addColumn('sources', 'blob')
    .addPrimaryKeyConstraint('domain_day_key', ['domain_id', 'day'])
    .execute();
  await db.schema
    .createTable('domain_receipt')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('reports', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_receipt_key', ['domain_id', 'day'])
    .execute();
}
