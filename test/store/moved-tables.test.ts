import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { listTables } from '../../src/store/move/from-sqlite.ts';
import { aDatabasePath } from '../support/store.ts';

async function aSchema(): Promise<Database.Database> {
  const path = aDatabasePath();
  await (await openStore(path)).close();
  return new Database(path, { readonly: true });
}

test('every table is moved, except leases', async () => {
  const schema = await aSchema();
  const tables = schema
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
    .pluck()
    .all() as string[];
  const own = tables.filter((name) => !name.startsWith('kysely_') && name !== 'lease');
  expect(listTables(schema).sort()).toEqual(own.sort());
});

test('a table is moved after those that it refers to', async () => {
  const schema = await aSchema();
  const names = listTables(schema);
  for (const [at, name] of names.entries()) {
    const others = schema.pragma(`foreign_key_list(${name})`) as { table: string }[];
    for (const { table } of others)
      expect(names.indexOf(table), `${name} → ${table}`).toBeLessThan(at);
  }
});
