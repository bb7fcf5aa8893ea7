import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { columnTypes, isPostgres } from './column-types.ts';

/*
 * Keys that differ between the engines. On PostgreSQL the keys of what belongs to a domain begin with the domain, so
 * that a table can be divided by domains (decision 90). SQLite is never divided.
 */

/** On SQLite the rows are then stored in the key's own tree, which saves writing a second tree for each row. */
export function clusterByKey<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
) {
  return isPostgres(db) ? table : table.modifyEnd(sql`without rowid`);
}

/**
 * A table whose rows are updated again and again, in columns without an index. On PostgreSQL, pages are filled to so
 * many per cent, so that a new version of a row fits into its page and no index needs an entry for it (HOT).
 */
export function updateInPlace<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
  percent = 80,
) {
  return isPostgres(db) ? table.modifyEnd(sql`with (fillfactor = ${sql.lit(percent)})`) : table;
}

/** Adds `seq`, a number that the database assigns, as the key of a table of domains. */
export function addNumber<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
  name: T,
) {
  const { count } = columnTypes(db);
  if (!isPostgres(db)) return table.addColumn('seq', count, (c) => c.primaryKey().autoIncrement());
  return table
    .addColumn('seq', count, (c) => c.notNull().autoIncrement())
    .addPrimaryKeyConstraint(`${name}_key`, ['domain_id', 'seq'] as never);
}

/** Adds `id`, which the API gives out, as a second key of a table of domains. */
export function addId<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
  name: T,
) {
  const { id } = columnTypes(db);
  if (!isPostgres(db)) return table.addColumn('id', id, (c) => c.notNull().unique());
  return table
    .addColumn('id', id, (c) => c.notNull())
    .addUniqueConstraint(`${name}_id_once`, ['domain_id', 'id'] as never);
}

/**
 * Rows are also found without their domain: `plumbline move` compares them by number, operators name a report by its
 * id and a conflict by its number, and an alert is settled by its id. SQLite's keys suffice for that.
 */
export async function indexWithoutDomain(
  db: Kysely<never>,
  table: string,
  columns: readonly ('seq' | 'id')[],
): Promise<void> {
  if (!isPostgres(db)) return;
  for (const column of columns)
    await db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
}

/** Adds a conflict's reference to its report. A report has one conflict for each payload. */
export function addReportOfConflict<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
) {
  const { id, count } = columnTypes(db);
  const withDomain = table.addColumn('domain_id', id, (c) => c.notNull());
  if (!isPostgres(db))
    return withDomain
      .addColumn('report_seq', count, (c) => c.notNull().references('report.seq'))
      .addUniqueConstraint('conflict_once', ['report_seq', 'payload_sha256'] as never);
  return withDomain
    .addColumn('report_seq', count, (c) => c.notNull())
    .addUniqueConstraint('conflict_once', ['domain_id', 'report_seq', 'payload_sha256'] as never)
    .addForeignKeyConstraint('conflict_report', ['domain_id', 'report_seq'] as never, 'report', [
      'domain_id',
      'seq',
    ]);
}
