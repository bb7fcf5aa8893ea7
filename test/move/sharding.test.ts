import { readFileSync } from 'node:fs';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { moveDatabase } from '../../src/store/move/move.ts';
import { aReport, receive } from '../support/builders.ts';
import { runOn } from '../support/postgres-stores.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabasePath } from '../support/store.ts';
import { listDifferences } from './compare.ts';
import { type Databases, startDatabases } from './databases.ts';
import { fillInstallation } from './installation.ts';

/* The scripts that divide large tables. */

let databases: Databases;

beforeAll(async () => {
  databases = await startDatabases();
  return databases.stop;
});

const readScript = (name: string) =>
  readFileSync(new URL(`../../docs/operate/postgres/${name}`, import.meta.url), 'utf8');

/** The numbers that were given last. */
const LAST_NUMBERS = `
  select name, pg_sequence_last_value(pg_get_serial_sequence(name, 'seq')::regclass)::int as last
  from unnest(array['report', 'conflict']) as name`;

test('tables that are divided into partitions keep their rows, and the store works on them', async () => {
  const path = aDatabasePath();
  const source = await openStore(path);
  await fillInstallation(source.db);
  await source.close();
  const url = await databases.create();
  await moveDatabase({ from: path, to: url, now: () => new Date() });
  const numbers = await runOn(url, LAST_NUMBERS);
  await runOn(url, readScript('partitions.sql'));
  expect(await runOn(url, LAST_NUMBERS)).toEqual(numbers);
  expect(await listDifferences(path, url)).toEqual([]);
  const partitions = await runOn(
    url,
    'select 1 from pg_inherits i join pg_class c on c.oid = inhrelid where relkind = $$r$$',
  );
  expect(partitions).toHaveLength(4 * 16);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const reports = [
    aReport({ reportId: 'new' }),
    aReport(),
    aReport({ reportId: 'new', payload: 'other' }),
  ];
  expect(await receive(store.db, reports)).toEqual(['stored', 'stored', 'conflict']);
  const references = await runOn(
    url,
    "select 1 from pg_constraint where conname = 'conflict_report'",
  );
  expect(references).not.toEqual([]);
});

test('a database of partitions is filled as any other', async () => {
  const url = await databases.create();
  await runOn(url, readScript('partitions.sql'));
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await fillInstallation(store.db);
  const [{ rows } = {}] = await runOn(url, 'select count(*)::int as rows from domain_day');
  expect(rows).toBeGreaterThan(0);
});

test('reports and conflicts are divided by months, and the tables of a month are dropped', async () => {
  const path = aDatabasePath();
  const source = await openStore(path);
  await fillInstallation(source.db);
  await source.close();
  const url = await databases.create();
  await moveDatabase({ from: path, to: url, now: () => new Date() });
  const numbers = await runOn(url, LAST_NUMBERS);
  await runOn(url, readScript('months.sql'));
  expect(await runOn(url, LAST_NUMBERS)).toEqual(numbers);
  expect(await listDifferences(path, url)).toEqual([]);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const lastMonth = new Date();
  lastMonth.setUTCMonth(lastMonth.getUTCMonth() - 1, 1);
  const begin = `${lastMonth.toISOString().slice(0, 7)}-01T00:00:00Z`;
  const ofMonth = aReport({ domain: 'new.example', reportId: 'new', begin });
  const conflict = aReport({ domain: 'new.example', reportId: 'new', begin, payload: 'other' });
  const ofNoMonth = aReport({ domain: 'new.example', begin: '1970-01-01T00:00:00Z' });
  expect(await receive(store.db, [ofMonth, conflict, ofNoMonth, ofMonth])).toEqual([
    ...['unclaimed', 'conflict', 'unclaimed', 'duplicate'],
  ]);
  expect(await listMiscounts(store.db)).toEqual({});
  const month = begin.slice(0, 7).replace('-', '_');
  for (const table of ['conflict', 'report']) {
    await runOn(url, `alter table ${table} detach partition ${table}_${month}`);
    await runOn(url, `drop table ${table}_${month}`);
  }
  const left = await store.db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'domain_seq')
    .select('begin_date')
    .where('name', '=', 'new.example')
    .execute();
  expect(left).toEqual([{ begin_date: '1970-01-01T00:00:00Z' }]);
});
