import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';

test('reports and addresses of an older version keep their counts, and each report waits for its details', async () => {
  const connection = new Database(':memory:');
  const db = new Kysely<never>({ dialect: new SqliteDialect({ database: connection }) });
  const names = Object.keys(MIGRATIONS);
  const details = names.indexOf('0012-source-details');
  for (const name of names.slice(0, details)) await MIGRATIONS[name]?.up(db);
  insertInto(connection, 'domain', { id: 'd', name: 'example.com', status: 'active' });
  insertInto(connection, 'source', { sha256: 'aa', name: 'mail.eml', encoding: 'as_is' });
  const day = { domain_id: 'd', day: '2026-03-14', messages: 9, aligned: 7 };
  insertInto(connection, 'domain_day', day);
  insertInto(connection, 'domain_source_ip', { ...day, address: '192.0.2.1' });
  const report = { id: 'r', domain_id: 'd', source_seq: 1, begin_date: '2026-03-14T22:00:00Z' };
  insertInto(connection, 'report', report);
  for (const name of names.slice(details)) await MIGRATIONS[name]?.up(db);
  const read = (table: string) => connection.prepare(`select * from ${table}`).all();
  expect(read('undetailed_report')).toEqual([
    { domain_id: 'd', day: '2026-03-14', report_seq: 1, source_seq: 1 },
  ]);
  expect(read('domain_source_ip')).toMatchObject([
    { messages: 9, aligned: 7, dkim_aligned: 0, spf_aligned: 0, details: '' },
  ]);
  expect(connection.pragma('foreign_key_check')).toEqual([]);
  await db.destroy();
});

interface Column {
  readonly name: string;
  readonly notnull: 0 | 1;
  readonly dflt_value: unknown;
  readonly pk: number;
}

/** Inserts a row whose other columns are empty. */
function insertInto(
  connection: Database.Database,
  table: string,
  row: Readonly<Record<string, string | number>>,
): void {
  const columns = connection.pragma(`table_info(${table})`) as Column[];
  const needed = columns.filter(
    ({ notnull, dflt_value, pk }) => notnull === 1 && dflt_value === null && pk === 0,
  );
  const whole = { ...Object.fromEntries(needed.map(({ name }) => [name, 0])), ...row };
  const names = Object.keys(whole);
  connection
    .prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
    .run(Object.values(whole));
}
