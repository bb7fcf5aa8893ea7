import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';

test('a conflict that an older version stored gets the domain of its report', async () => {
  const connection = new Database(':memory:');
  const db = new Kysely<never>({ dialect: new SqliteDialect({ database: connection }) });
  const names = Object.keys(MIGRATIONS);
  const at = names.indexOf('0011-keys');
  for (const name of names.slice(0, at)) await MIGRATIONS[name]?.up(db);
  connection.exec(`
    insert into domain (id, name, status, created_at, reports_version, alerts_version) values
      ('one', 'one.example', 'active', 't', 'v', 'v'), ('two', 'two.example', 'active', 't', 'v', 'v');
    insert into source (sha256, name, received_at, byte_count, encoding, content)
      values ('x', 's', 't', 0, 'as_is', x'');
    insert into report (id, domain_id, source_seq, received_at, begin_date, end_date, record_count,
      total_messages, aligned_messages, payload_sha256, warnings, position) values
      ('r', 'one', 1, 't', 'b', 'e', 0, 0, 0, 'p', '[]', 1), ('s', 'two', 1, 't', 'b', 'e', 0, 0, 0, 'p', '[]', 1);
    insert into conflict (report_seq, source_seq, payload_sha256, received_at)
      values (2, 1, 'q', 't'), (1, 1, 'q', 't')`);
  for (const name of names.slice(at)) await MIGRATIONS[name]?.up(db);
  const conflicts = connection.prepare('select seq, domain_id from conflict order by seq').all();
  expect(conflicts).toEqual([
    { seq: 1, domain_id: 'two' },
    { seq: 2, domain_id: 'one' },
  ]);
  await db.destroy();
});
