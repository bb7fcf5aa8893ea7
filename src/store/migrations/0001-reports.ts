import { type Kysely, sql } from 'kysely';
import { columnTypes, isPostgres } from './column-types.ts';
import { addId, addNumber, addReportOfConflict, clusterByKey, updateInPlace } from './keys.ts';

/** The order of a domain's reports, and on PostgreSQL their key. Columns of a fixed size come first: no space is left. */
const LIST = ['domain_id', 'begin_date', 'seq'];

/** Documents with the bytes in which they came, what became of them, and what a domain's reports count. */
export async function createReports(db: Kysely<never>): Promise<void> {
  await createDocuments(db);
  await createContents(db);
  await createCounts(db);
}

async function createDocuments(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('document')
    .addColumn('seq', t.count, (c) => c.primaryKey().autoIncrement())
    .addColumn('input_sha256', t.bytes, (c) => c.notNull())
    .addColumn('path', t.text, (c) => c.notNull())
    .addColumn('input_name', t.text, (c) => c.notNull())
    .addColumn('input_bytes', t.number, (c) => c.notNull())
    .addColumn('member', t.text)
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('encoding', t.text)
    .addColumn('content_bytes', t.number)
    .addColumn('content', t.bytes)
    .addUniqueConstraint('document_once', ['input_sha256', 'path'])
    .execute();
  await keepContentInRows(db);
  await db.schema
    .createTable('document_part')
    .addColumn('document_seq', t.count, (c) => c.notNull().references('document.seq'))
    .addColumn('part', t.number, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('document_part_key', ['document_seq', 'part'])
    .execute();
}

/**
 * By default PostgreSQL compresses what has more than 2,000 bytes and moves it out of its row, at three writes instead of
 * one. A document's content is compressed already, and is in its row while both fit into a page.
 */
async function keepContentInRows(db: Kysely<never>): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`alter table document alter content set storage external`.execute(db);
  await sql`alter table document set (toast_tuple_target = 8160)`.execute(db);
}

/** Reports and conflicts refer to their documents without a foreign key, whose check would cost every report. */
async function createContents(db: Kysely<never>): Promise<void> {
  const t = columnTypes(db);
  await db.schema
    .createTable('report')
    .$call((table) => addNumber(db, table, { name: 'report', key: LIST }))
    .addColumn('begin_date', t.instant, (c) => c.notNull())
    .addColumn('end_date', t.instant, (c) => c.notNull())
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('position', t.count, (c) => c.notNull())
    .addColumn('nonce', t.text, (c) => c.notNull())
    .addColumn('document_seq', t.count, (c) => c.notNull())
    .addColumn('total_messages', t.count, (c) => c.notNull())
    .addColumn('aligned_messages', t.count, (c) => c.notNull())
    .addColumn('record_count', t.number, (c) => c.notNull())
    .$call((table) => addId(db, table, { name: 'report', key: ['domain_id', 'begin_date'] }))
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('payload_sha256', t.bytes, (c) => c.notNull())
    .addColumn('reporter_org', t.text)
    .addColumn('reporter_email', t.text)
    .addColumn('report_id', t.text)
    .addColumn('warnings', t.text, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .execute();
  if (!isPostgres(db))
    await db.schema.createIndex('report_list').on('report').columns(LIST).execute();
  await db.schema
    .createIndex('report_arrival')
    .on('report')
    .columns(['domain_id', 'position'])
    .execute();
  await db.schema
    .createTable('conflict')
    .$call((table) => addNumber(db, table, { name: 'conflict', key: LIST }))
    .addColumn('received_at', t.instant, (c) => c.notNull())
    .addColumn('document_seq', t.count, (c) => c.notNull())
    .addColumn('total_messages', t.count, (c) => c.notNull())
    .addColumn('aligned_messages', t.count, (c) => c.notNull())
    .addColumn('record_count', t.number, (c) => c.notNull())
    .$call((table) => addReportOfConflict(db, table))
    .addColumn('payload_sha256', t.bytes, (c) => c.notNull())
    .addColumn('reporter_org', t.text)
    .addColumn('reporter_email', t.text)
    .addColumn('warnings', t.text, (c) => c.notNull())
    .addColumn('content', t.bytes, (c) => c.notNull())
    .execute();
  // Operators name a conflict by its number.
  if (isPostgres(db))
    await db.schema.createIndex('conflict_seq').on('conflict').column('seq').execute();
  await db.schema
    .createTable('rejection')
    .addColumn('document_seq', t.count, (c) => c.primaryKey().references('document.seq'))
    .addColumn('reason', t.text, (c) => c.notNull())
    .addColumn('message', t.text, (c) => c.notNull())
    .addColumn('place', t.text)
    .execute();
  await db.schema
    .createIndex('conflict_received')
    .on('conflict')
    .columns(['received_at', 'seq'])
    .execute();
  await db.schema
    .createTable('removed_payload')
    .addColumn('report_id', t.id, (c) => c.notNull())
    .addColumn('payload_sha256', t.bytes, (c) => c.notNull())
    .addColumn('removed_at', t.instant, (c) => c.notNull())
    .addPrimaryKeyConstraint('removed_payload_key', ['report_id', 'payload_sha256'])
    .$call((table) => clusterByKey(db, table))
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
    // Its packed sources grow with each report.
    .$call((table) => updateInPlace(db, table, 60))
    .execute();
  await db.schema
    .createTable('domain_receipt')
    .addColumn('domain_id', t.id, (c) => c.notNull().references('domain.id'))
    .addColumn('day', t.day, (c) => c.notNull())
    .addColumn('reports', t.count, (c) => c.notNull())
    .addPrimaryKeyConstraint('domain_receipt_key', ['domain_id', 'day'])
    .$call((table) => clusterByKey(db, table))
    .$call((table) => updateInPlace(db, table))
    .execute();
}
