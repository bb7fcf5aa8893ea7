import { sql } from 'kysely';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { seed } from '../seed.ts';

/*
 * The rows of a small database that each release keeps beside its schema. A later version migrates them too, because a step
 * that goes wrong does so with rows.
 */

/** Statements of SQLite that insert the rows, in any order: without foreign keys. */
export async function listRows(): Promise<string[]> {
  const store = await openStore(':memory:');
  try {
    await seed(store, { domains: 2, reports: 10 });
    const statements: string[] = [];
    for (const table of await listTables(store.db))
      statements.push(...(await listInserts(store.db, table)));
    return statements;
  } finally {
    await store.close();
  }
}

async function listTables(db: Db): Promise<string[]> {
  const query = sql<{ name: string }>`select name from sqlite_schema
    where type = 'table' and name not like '%kysely%' and name not like 'sqlite_%' order by name`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}

async function listInserts(db: Db, table: string): Promise<string[]> {
  const columns = sql<{ name: string }>`select name from pragma_table_info(${table})`;
  const names = (await columns.execute(db)).rows.map(({ name }) => name);
  // A text may have what ends a statement.
  const values = names.map(
    (name) =>
      `case typeof(${name}) when 'text' then 'cast(x''' || hex(${name}) || ''' as text)' else quote(${name}) end`,
  );
  const inserts = sql<{
    line: string;
  }>`select 'insert into ' || ${table} || ' (' || ${names.join(', ')} || ') values ('
    || ${sql.raw(values.join(" || ', ' || "))} || ')' as line from ${sql.table(table)}`;
  return (await inserts.execute(db)).rows.map(({ line }) => line);
}
