import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { MOVED_TABLES, NOT_MOVED } from '../../src/store/move/moved-tables.ts';
import { aDatabasePath } from '../support/store.ts';

async function aSchema(): Promise<Database.Database> {
  const path = aDatabasePath();
  await (await openStore(path)).close();
  return new Database(path, { readonly: true });
}

const names = MOVED_TABLES.map(({ name }) => name as string);

test('every table is moved, or named as one that is not', async () => {
  const schema = await aSchema();
  const tables = schema
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
    .pluck()
    .all() as string[];
  const own = tables.filter((name) => !name.startsWith('kysely_') && !NOT_MOVED.includes(name));
  expect([...names].sort()).toEqual(own.sort());
});

test('a table is moved after those that it refers to', async () => {
  const schema = await aSchema();
  for (const [at, name] of names.entries()) {
    const others = schema.pragma(`foreign_key_list(${name})`) as { table: string }[];
    for (const { table } of others)
      expect(names.indexOf(table), `${name} → ${table}`).toBeLessThan(at);
  }
});

test('the rows of a table are moved in the order of its primary key', async () => {
  const schema = await aSchema();
  for (const { name, key } of MOVED_TABLES) {
    const columns = schema.pragma(`table_info(${name})`) as { name: string; pk: number }[];
    const primary = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    expect(key, name).toEqual(primary.map((column) => column.name));
  }
});
