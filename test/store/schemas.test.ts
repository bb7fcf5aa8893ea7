import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { listRows } from '../../scripts/contract/rows.ts';
import { listStatements, SCHEMAS } from '../../scripts/contract/schema.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { StoreOptions } from '../../src/store/engine/store.ts';
import { verify } from '../../src/store/verify/verify.ts';
import { laterSteps } from '../support/later-steps.ts';
import { copyDatabase, runOn } from '../support/postgres-stores.ts';
import { aDatabasePath, IS_POSTGRES } from '../support/store.ts';

const ENGINE = IS_POSTGRES ? 'postgres' : 'sqlite';
/** The last release whose schema is not migrated. */
const LAST_WITHOUT = '1.1.0';

const anEmptyDatabase = async () => (IS_POSTGRES ? copyDatabase('template0') : aDatabasePath());

/** With rows on SQLite. */
async function aDatabaseOf(
  statements: readonly string[],
  rows: readonly string[] = [],
): Promise<string> {
  const database = await anEmptyDatabase();
  if (IS_POSTGRES) {
    for (const statement of statements) await runOn(database, statement);
    return database;
  }
  const sqlite = new Database(database);
  sqlite.pragma('foreign_keys = off');
  for (const statement of [...statements, ...rows]) sqlite.exec(statement);
  sqlite.close();
  return database;
}

const readStatements = (path: string) =>
  readFileSync(path, 'utf8').trimEnd().slice(0, -1).split(';\n');

/** Migrates a database with rows, and throws when one is lost or a figure is wrong then. */
async function expectRows(database: string, options: StoreOptions = {}): Promise<void> {
  const before = countRows(database);
  const store = await openStore(database, options);
  const wrong = await Array.fromAsync(verify(store));
  await store.close();
  expect(before.get('report')).toBe(20);
  expect(countRows(database)).toEqual(before);
  expect(wrong).toEqual([]);
}

/** Of each table that had rows before. */
function countRows(database: string): ReadonlyMap<string, number> {
  const sqlite = new Database(database, { readonly: true });
  const names = sqlite.prepare(OF_TABLES).pluck().all() as string[];
  const counts = names.map((name): [string, number] => [
    name,
    sqlite.prepare(`select count(*) from ${name}`).pluck().get() as number,
  ]);
  sqlite.close();
  return new Map(counts.filter(([, count]) => count > 0));
}

const OF_TABLES = `select name from sqlite_schema
  where type = 'table' and name not like '%kysely%' and name not like 'sqlite_%'`;

const OF_SQLITE = `
  select type || ' ' || name || coalesce(': ' || sql, '') as line from sqlite_schema
  where name not like '%kysely%' and name not like 'sqlite_sequence'`;
const OF_POSTGRES = `
  with tables as (
    select * from pg_class where relnamespace = 'public'::regnamespace and relname not like '%kysely%')
  select line from (
    select format('%s %s %s %s', relkind, relname, reloptions, pg_get_partkeydef(oid)) from tables
    union all select format('column %s.%s %s %s %s %s %s %s', relname, attname, format_type(atttypid, atttypmod),
        attnotnull, attidentity, attstorage, attcollation::regcollation,
        (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
      from tables join pg_attribute on attrelid = tables.oid where attnum > 0 and not attisdropped
    union all select pg_get_indexdef(oid) from tables where relkind in ('i', 'I')
    union all select format('constraint %s %s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
      from tables join pg_constraint on conrelid = tables.oid
    union all select format('comment %s %s', relname, description)
      from tables join pg_description on objoid = tables.oid) as lines (line)`;

/** Tables, columns, indexes and constraints, a line for each. */
async function readSchema(database: string): Promise<unknown[]> {
  if (IS_POSTGRES) return (await runOn(database, OF_POSTGRES)).map(({ line }) => line).toSorted();
  const sqlite = new Database(database, { readonly: true });
  const lines = sqlite.prepare(OF_SQLITE).pluck().all();
  sqlite.close();
  return lines.toSorted();
}

async function readMigrated(database: string, options: StoreOptions = {}): Promise<unknown[]> {
  await (await openStore(database, options)).close();
  return readSchema(database);
}

test('the statements that a release keeps make the schema of this version', async () => {
  const schema = await readSchema(await aDatabaseOf(await listStatements(ENGINE)));
  expect(schema.length).toBeGreaterThan(30);
  expect(schema).toEqual(await readMigrated(await anEmptyDatabase()));
});

test.skipIf(IS_POSTGRES)('a later version migrates the rows that a release keeps', async () => {
  const database = await aDatabaseOf(await listStatements(ENGINE), await listRows());
  await expectRows(database, { steps: laterSteps() });
});

test('a later version migrates them to its own schema', async () => {
  const options = { steps: laterSteps() };
  const kept = await aDatabaseOf(await listStatements(ENGINE));
  const before = await readSchema(kept);
  const migrated = await readMigrated(kept, options);
  expect(migrated).not.toEqual(before);
  expect(migrated).toEqual(await readMigrated(await anEmptyDatabase(), options));
});

describe('releases', () => {
  const kept = globSync(`${SCHEMAS}/*-${ENGINE}.sql`);

  test(`each after ${LAST_WITHOUT} has kept its schema`, () => {
    const releases = readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (\d+\.\d+\.\d+)/gm);
    const versions = Array.from(releases, ([, version = '']) => version);
    expect(versions).toContain(LAST_WITHOUT);
    const wanted = versions.slice(0, versions.indexOf(LAST_WITHOUT));
    expect(kept.map((path) => basename(path)).toSorted()).toEqual(
      wanted.map((version) => `${version}-${ENGINE}.sql`).toSorted(),
    );
  });

  // Without a file there is nothing to migrate, until the next release.
  test.each(kept.map((path) => [basename(path), path]))(
    'the schema of %s is migrated to that of this version',
    async (_name, path) => {
      expect(await readMigrated(await aDatabaseOf(readStatements(path)))).toEqual(
        await readMigrated(await anEmptyDatabase()),
      );
      if (IS_POSTGRES) return;
      const rows = readStatements(path.replace(`-${ENGINE}.sql`, '-rows.sql'));
      await expectRows(await aDatabaseOf(readStatements(path), rows));
    },
  );
});
