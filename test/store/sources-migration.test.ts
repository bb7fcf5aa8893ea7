import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';

test('a source that an older version stored as a document is still there, with its parts', async () => {
  const connection = new Database(':memory:');
  const db = new Kysely<never>({ dialect: new SqliteDialect({ database: connection }) });
  const names = Object.keys(MIGRATIONS);
  const renaming = names.indexOf('0006-sources');
  for (const name of names.slice(0, renaming)) await MIGRATIONS[name]?.up(db);
  connection.exec(`
    insert into document (sha256, source, received_at, byte_count, content, encoding)
      values ('aa', 'mail.eml', '2026-03-01T00:00:00Z', 4, x'0102', 'as_is');
    insert into document_part (document_seq, part, content) values (1, 1, x'0304');
    insert into rejection (document_seq, ordinal, reason, message, received_at)
      values (1, 0, 'not_a_report', 'No report.', '2026-03-01T00:00:00Z')`);
  for (const name of names.slice(renaming)) await MIGRATIONS[name]?.up(db);
  const stored = connection.prepare(`
    select source.name, hex(source_part.content) as rest, rejection.reason from source
    join source_part on source_part.source_seq = source.seq
    join rejection on rejection.source_seq = source.seq`);
  expect(stored.all()).toEqual([{ name: 'mail.eml', rest: '0304', reason: 'not_a_report' }]);
  expect(connection.pragma('foreign_key_check')).toEqual([]);
  await db.destroy();
});
