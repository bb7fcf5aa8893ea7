import { writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { aProgram } from '../support/program.ts';

const NAMES = Object.keys(MIGRATIONS);

function listApplied(path: string): unknown[] {
  const database = new Database(path, { readonly: true });
  const tables = database.prepare("select name from sqlite_schema where name = 'kysely_migration'");
  const applied =
    tables.get() === undefined
      ? []
      : database.prepare('select name from kysely_migration order by name').pluck().all();
  database.close();
  return applied;
}

test('plumbline migrate --dry-run says what would be done, and does nothing', async () => {
  const { database, run, json } = aProgram();
  writeFileSync(database, '');
  expect(await json('migrate', '--dry-run')).toEqual(
    NAMES.map((migration) => ({
      migration,
      does: expect.any(String),
      locks: expect.any(String),
      seconds: 0,
    })),
  );
  const { status, stdout } = await run(['migrate', '--dry-run']);
  expect([status, stdout]).toEqual([0, expect.stringMatching(/0001-tables +makes all tables/)]);
  expect(listApplied(database)).toEqual([]);
});

test('plumbline migrate runs the steps and names each, and then there is nothing to do', async () => {
  const { database, run, json } = aProgram();
  writeFileSync(database, '');
  const { status, stderr } = await run(['migrate', '--json']);
  expect([status, stderr]).toEqual([0, expect.stringContaining('0001-tables makes all tables')]);
  expect(listApplied(database)).toEqual(NAMES);
  expect(await json('migrate', '--dry-run')).toEqual([]);
  expect(await run(['migrate'])).toMatchObject({
    status: 0,
    stdout: 'The database has the schema of this version.\n',
    stderr: '',
  });
});

test('a database that is not there, or of a newer version, is an error', async () => {
  const { database, run } = aProgram();
  expect(await run(['migrate'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('There is no database at'),
  });
  await run(['account', 'create', 'Example']);
  const newer = new Database(database);
  newer.exec("insert into kysely_migration values ('9999-later', '2026-03-15')");
  newer.close();
  for (const args of [['migrate'], ['migrate', '--dry-run']])
    expect(await run(args)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('another version of Plumbline (migration 9999-later)'),
    });
});
