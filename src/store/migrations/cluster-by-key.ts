import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * On SQLite the rows of a table are then stored in the key's own tree, which saves writing a second tree for each row.
 */
export function clusterByKey<T extends string>(
  db: Kysely<never>,
  table: CreateTableBuilder<T, never>,
) {
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  return isSqlite ? table.modifyEnd(sql`without rowid`) : table;
}
