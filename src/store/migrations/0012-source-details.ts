import { type Kysely, sql } from 'kysely';
import { clusterByKey } from './cluster-by-key.ts';

/**
 * What the page of a source shows: results by address and day, and the reports that were stored before, whose
 * results are not there yet (decisions 92, 93).
 */
export async function up(db: Kysely<never>): Promise<void> {
  await addDetails(db);
  await createTexts(db);
  await createUndetailed(db);
}

async function addDetails(db: Kysely<never>): Promise<void> {
  for (const column of ['dkim_aligned', 'spf_aligned'])
    await db.schema
      .alterTable('domain_source_ip')
      .addColumn(column, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema
    .alterTable('domain_source_ip')
    .addColumn('details', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
}

async function createTexts(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('source_text')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('month', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('text', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('source_text_key', ['domain_id', 'month', 'id'])
    .$call((table) => clusterByKey(db, table))
    .execute();
}

async function createUndetailed(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('undetailed_report')
    .addColumn('domain_id', 'text', (c) => c.notNull().references('domain.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('report_seq', 'bigint', (c) => c.notNull())
    .addColumn('source_seq', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('undetailed_report_key', ['domain_id', 'day', 'report_seq'])
    .$call((table) => clusterByKey(db, table))
    .execute();
  await sql`
    insert into undetailed_report (domain_id, day, report_seq, source_seq)
    select domain_id, substr(begin_date, 1, 10), seq, source_seq from report`.execute(db);
  await db.schema
    .createIndex('undetailed_report_source')
    .on('undetailed_report')
    .column('source_seq')
    .execute();
}
