import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { columnTypes, isPostgres } from './column-types.ts';

/*
 * Keys that differ between the engines. On PostgreSQL the keys of what belongs to a domain have the domain, and those
 * of reports and conflicts the beginning of the report's window, so that a table can be divided by domains or by months
 * (decision 90). SQLite is never divided: `seq` is the place of a row, and `id` is a key by itself.
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

interface TableKey<T> {
  readonly name: T;
  readonly key: readonly string[];
}

/** Adds `seq`, a number that the database assigns. On PostgreSQL the rows of a domain are found by `key`, in its order. */
export function addNumber<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
  { name, key }: TableKey<T>,
) {
  const { count } = columnTypes(db);
  if (!isPostgres(db)) return table.addColumn('seq', count, (c) => c.primaryKey().autoIncrement());
  return table
    .addColumn('seq', count, (c) => c.notNull().autoIncrement())
    .addPrimaryKeyConstraint(`${name}_key`, key as never);
}

/** Adds `id`, which the API gives out. On PostgreSQL it is unique together with the columns of `key`. */
export function addId<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
  { name, key }: TableKey<T>,
) {
  const { id } = columnTypes(db);
  if (!isPostgres(db)) return table.addColumn('id', id, (c) => c.notNull().unique());
  return table
    .addColumn('id', id, (c) => c.notNull())
    .addUniqueConstraint(`${name}_id_once`, ['id', ...key] as never);
}

/** Adds a conflict's reference to its report. A report has one conflict for each payload. */
export function addReportOfConflict<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
) {
  const t = columnTypes(db);
  const withKey = table
    .addColumn('begin_date', t.instant, (c) => c.notNull())
    .addColumn('domain_id', t.id, (c) => c.notNull());
  if (!isPostgres(db))
    return withKey
      .addColumn('report_id', t.id, (c) => c.notNull().references('report.id'))
      .addUniqueConstraint('conflict_once', ['report_id', 'payload_sha256'] as never);
  const key = ['report_id', 'domain_id', 'begin_date'];
  return withKey
    .addColumn('report_id', t.id, (c) => c.notNull())
    .addUniqueConstraint('conflict_once', [...key, 'payload_sha256'] as never)
    .addForeignKeyConstraint('conflict_report', key as never, 'report', [
      'id',
      'domain_id',
      'begin_date',
    ]);
}
