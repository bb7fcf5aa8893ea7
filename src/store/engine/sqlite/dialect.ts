import { type QueryResult, SqliteAdapter, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/sqlite';
import type { Tx } from '../database.ts';
import type { AdapterWithDialect, Dialect } from '../dialect.ts';

const jsonRow: Dialect['jsonRow'] = (fields) => jsonBuildObject(fields as never) as never;

const SQLITE_DIALECT: Dialect = {
  isDivided: false,
  jsonRow,
  jsonRows: (fields, from) => sql`select ${jsonRow(fields)} as item ${from}`,
  asJson: (column) => sql`json(${column})`,
  asInstant: (column) => sql`${column}`,
  isIn: (column, list) => sql`${column} in (select value from json_each(${list}))`,
  typed: (value) => sql`${value}`,
  clockMs: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  // A transaction that writes is the only one.
  locked: (query) => query,
  lockName: async () => {},
  giveBackPages,
  // After an error SQLite may have ended the transaction, so each is run after the one before it has succeeded.
  runAll: async (connection, statements) => {
    const results: QueryResult<unknown>[] = [];
    for (const statement of statements) results.push(await connection.executeQuery(statement));
    return results;
  },
};

/** So much of the file stays free. */
const KEPT_FREE = 0.05;

async function giveBackPages(tx: Tx, max: number): Promise<number> {
  const { free, pages, size } = await measurePages(tx);
  const count = Math.min(max, Math.floor(free - pages * KEPT_FREE));
  // A statement without columns is stepped once, which is one page.
  for (let i = 0; i < count; i += 1) await sql`pragma incremental_vacuum(1)`.execute(tx);
  return (pages - (await measurePages(tx)).pages) * size;
}

async function measurePages(tx: Tx) {
  const { rows } = await sql<{ free: number; pages: number; size: number }>`
    select freelist_count as free, page_count as pages, page_size as size
    from pragma_freelist_count, pragma_page_count, pragma_page_size`.execute(tx);
  return rows[0] as (typeof rows)[number];
}

export class PlumblineSqliteAdapter extends SqliteAdapter implements AdapterWithDialect {
  readonly dialect = SQLITE_DIALECT;
}
