import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * A conflict names the domain of its report. On PostgreSQL, the keys of reports, conflicts and alerts begin with
 * the domain (decision 90). On SQLite, which is never divided, they stay what they are.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('conflict')
    .addColumn('domain_id', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await sql`
    update conflict set domain_id = (
      select report.domain_id from report where report.seq = conflict.report_seq)`.execute(db);
  if (db.getExecutor().adapter instanceof PostgresAdapter) await keyByDomain(db);
}

async function keyByDomain(db: Kysely<never>): Promise<void> {
  const conflicts = () => db.schema.alterTable('conflict');
  await conflicts()
    .alterColumn('domain_id', (c) => c.dropDefault())
    .execute();
  await conflicts().dropConstraint('conflict_report_seq_fkey').execute();
  await conflicts().dropConstraint('conflict_once').execute();
  for (const table of ['report', 'conflict', 'alert'] as const) await replaceKey(db, table);
  for (const table of ['report', 'alert'] as const) await replaceUniqueId(db, table);
  await conflicts()
    .addUniqueConstraint('conflict_once', ['domain_id', 'report_seq', 'payload_sha256'])
    .execute();
  await conflicts()
    .addForeignKeyConstraint('conflict_report', ['domain_id', 'report_seq'], 'report', [
      'domain_id',
      'seq',
    ])
    .execute();
}

type Table = 'report' | 'conflict' | 'alert';

/** `plumbline move` compares rows by their number, and operators name conflicts by it. */
async function replaceKey(db: Kysely<never>, table: Table): Promise<void> {
  await db.schema.alterTable(table).dropConstraint(`${table}_pkey`).execute();
  await db.schema
    .alterTable(table)
    .addPrimaryKeyConstraint(`${table}_key`, ['domain_id', 'seq'])
    .execute();
  await db.schema.createIndex(`${table}_seq`).on(table).column('seq').execute();
}

/** Operators name a report by its id, and an alert is settled by its id. */
async function replaceUniqueId(db: Kysely<never>, table: Table): Promise<void> {
  await db.schema.alterTable(table).dropConstraint(`${table}_id_key`).execute();
  await db.schema
    .alterTable(table)
    .addUniqueConstraint(`${table}_id_once`, ['domain_id', 'id'])
    .execute();
  await db.schema.createIndex(`${table}_id`).on(table).column('id').execute();
}
