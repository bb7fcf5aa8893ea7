import { type QueryResult, SqliteAdapter, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/sqlite';
import type { AdapterWithDialect, Dialect } from '../dialect.ts';

const jsonRow: Dialect['jsonRow'] = (fields) => jsonBuildObject(fields as never) as never;

const SQLITE_DIALECT: Dialect = {
  jsonRow,
  jsonRows: (_db, query, fields) => query.select(jsonRow(fields).as('item')) as never,
  asJson: (column) => sql`json(${column})`,
  asInstant: (column) => sql`${column}`,
  isIn: (column, list) => sql`${column} in (select value from json_each(${list}))`,
  typed: (value) => sql`${value}`,
  clockMs: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  // A transaction that writes is the only one.
  locked: (query) => query,
  lockName: async () => {},
  // After an error SQLite may have ended the transaction, so each is run after the one before it has succeeded.
  runAll: async (connection, statements) => {
    const results: QueryResult<unknown>[] = [];
    for (const statement of statements) results.push(await connection.executeQuery(statement));
    return results;
  },
};

export class PlumblineSqliteAdapter extends SqliteAdapter implements AdapterWithDialect {
  readonly dialect = SQLITE_DIALECT;
}
