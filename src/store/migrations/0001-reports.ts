import type { Kysely } from 'kysely';
import { columnTypes } from './column-types.ts';
import { addId, addNumber, addReportOfConflict, indexWithoutDomain } from './keys.ts';

/** Inputs with their original bytes, what became of their documents, and what a domain's reports count. */
export async function createReports(db: Kysely<never>): Promise<void> {
  await createInputs(db);
  await createDocuments(db);
  await createCounts(db);
}

async function createInputs(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('source')
    .addColumn('seq', t.count, (c) => c.primaryKey().autoIncrement())
    .addColumn('sha256', t.text, (c) => c.notNull().unique())
    .addColumn('name', t.text, (c) => c.notNull())
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('byte_count', t.count, (c) => c.notNull())
    .addColumn('encoding', t.text, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('source_part')
    .addColumn('source_seq', t.count, (c) => c.notNull().references('source.seq'))
    .addColumn('part', t.number, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('source_part_key', ['source_seq', 'part'])
    .execute();
}

async function createDocuments(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('report')
    .$call((table) => addNumber(db, table, 'report'))
    .$call((table) => addId(db, table, 'report'))
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('source_seq', t.count, (c) => c.notNull().references('source.seq'))
    .addColumn('member', t.text)
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('position', t.count, (c) => c.notNull().defaultTo(0))
    .addColumn('reporter_org', t.text)
    .addColumn('reporter_email', t.text)
    .addColumn('report_id', t.text)
    .addColumn('begin_date', t.instant, (c) => c.notNull())
    .addColumn('end_date', t.instant, (c) => c.notNull())
    .addColumn('record_count', t.count, (c) => c.notNull())
    .addColumn('total_messages', t.count, (c) => c.notNull())
    .addColumn('aligned_messages', t.count, (c) => c.notNull())
    .addColumn('payload_sha256', t.text, (c) => c.notNull())
    .addColumn('xml_namespace', t.text)
    .addColumn('version', t.text)
    .addColumn('warnings', t.text, (c) => c.notNull())
    .execute();
  await indexWithoutDomain(db, 'report', ['seq', 'id']);
  const indexes = { list: ['domain_id', 'begin_date', 'seq'], arrival: ['domain_id', 'position'] };
  for (const [name, columns] of Object.entries(indexes))
    await db.schema.createIndex(`report_${name}`).on('report').columns(columns).execute();
  await db.schema
    .createTable('conflict')
    .$call((table) => addNumber(db, table, 'conflict'))
    .$call((table) => addReportOfConflict(db, table))
    .addColumn('source_seq', t.count, (c) => c.notNull().references('source.seq'))
    .addColumn('member', t.text)
    .addColumn('payload_sha256', t.text, (c) => c.notNull())
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .execute();
  await indexWithoutDomain(db, 'conflict', ['seq']);
  await db.schema
    .createTable('rejection')
    .addColumn('seq', t.count, (c) => c.primaryKey().autoIncrement())
    .addColumn('source_seq', t.count, (c) => c.notNull().references('source.seq'))
    .addColumn('ordinal', t.number, (c) => c.notNull().defaultTo(0))
    .addColumn('member', t.text)
    .addColumn('reason', t.text, (c) => c.notNull())
    .addColumn('message', t.text, (c) => c.notNull())
    .addColumn('place', t.text)
    .addColumn('received_at', t.instant, (c) => c.notNull())
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
    .addColumn('report_id', t.id, (c) => c.notNull())
    .addColumn('payload_sha256', t.text, (c) => c.notNull())
    .addColumn('removed_at', t.instant, (c) => c.notNull())
    .addPrimaryKeyConstraint('removed_payload_key', ['report_id', 'payload_sha256'])
    .execute();
}

async function createCounts(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('domain_day')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('day', t.day, (c) => c.notNull())
    .addColumn('reports', t.count, (c) => c.notNull())
    .addColumn('messages', t.count, (c) => c.notNull())
    .addColumn('aligned', t.count, (c) => c.notNull())
    .addColumn('sources', t.bytes)
    .addPrimaryKeyConstraint('domain_day_key', ['domain_id', 'day'])
    .execute();
  await db.schema
    .createTable('domain_receipt')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('day', t.day, (c) => c.notNull())
    .addColumn('reports', t.count, (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_receipt_key', ['domain_id', 'day'])
    .execute();
}
