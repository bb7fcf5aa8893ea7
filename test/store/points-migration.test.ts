import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, test } from 'vitest';
import { followAlerts } from '../../src/store/alerts/alert-list.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { followReports } from '../../src/store/reports/reports.ts';
import { aReport, receive } from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabasePath } from '../support/store.ts';
import { readAfter } from './read-after.ts';

describe('a database of an older version', () => {
  /** A database with the tables of before points, two domains and an account without any. */
  async function anOldDatabase(path: string): Promise<void> {
    const connection = new Database(path);
    const db = new Kysely<never>({ dialect: new SqliteDialect({ database: connection }) });
    const old = Object.entries(MIGRATIONS).filter(([name]) => name < '0007');
    const provider = { getMigrations: async () => Object.fromEntries(old) };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error;
    connection.exec(`
      insert into account (id, name, plan, created_at, domains_version, alerts_version) values
        ('a', 'A', 'pro', '2026-01-01T00:00:00Z', 'v', 'v'),
        ('b', 'B', 'pro', '2026-01-01T00:00:00Z', 'v', 'v');
      insert into domain (id, account_id, name, status, created_at, reports_version, alerts_version) values
        ('one', 'a', 'one.example', 'active', '2026-01-01T00:00:00Z', 'v', 'v'),
        ('two', 'a', 'two.example', 'active', '2026-01-01T00:00:00Z', 'v', 'v'),
        ('none', null, 'none.example', 'active', '2026-01-01T00:00:00Z', 'v', 'v');
      insert into source (sha256, name, received_at, byte_count, encoding, content)
        values ('x', 's', '2026-01-01T00:00:00Z', 0, 'as_is', x'');`);
    for (const [i, domain] of ['one', 'two', 'one', 'one', 'two'].entries())
      connection
        .prepare(`insert into report (id, domain_id, source_seq, received_at, begin_date, end_date,
          record_count, total_messages, aligned_messages, payload_sha256, warnings)
          values (?, ?, 1, 't', ?, 'e', 0, 0, 0, 'p', '[]')`)
        .run(`r${i}`, domain, `2026-01-0${9 - i}T00:00:00Z`);
    connection.exec(`
      update domain set reports_total = (select count(*) from report where domain_id = domain.id);
      insert into alert (id, account_id, domain_id, type, subject, fired_at, resolved_at, context) values
        ('x', 'a', 'one', 't', 'x', '2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z', '{}'),
        ('y', 'a', 'two', 't', 'y', '2026-01-02T00:00:00Z', null, '{}'),
        ('z', 'a', 'one', 't', 'z', '2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z', '{}');`);
    await db.destroy();
  }

  test('has the order in which its reports arrived and its alerts changed', async () => {
    const path = aDatabasePath();
    await anOldDatabase(path);
    const store = await openStore(path);
    const reports = (domainId: string) => followReports({ accountId: 'a', domainId });
    const alerts = (domainId?: string) => followAlerts({ accountId: 'a', domainId });
    expect((await readAfter(store, reports('one'))).ids).toEqual(['r0', 'r2', 'r3']);
    expect((await readAfter(store, reports('two'))).ids).toEqual(['r1', 'r4']);
    expect((await readAfter(store, reports('two'), { after: 1 })).ids).toEqual(['r4']);
    expect((await readAfter(store, alerts())).ids).toEqual(['y', 'z', 'x']);
    expect((await readAfter(store, alerts('one'))).ids).toEqual(['z', 'x']);
    const { ids, total } = await readAfter(
      store,
      followAlerts({ accountId: 'b', domainId: undefined }),
    );
    expect([ids, total]).toEqual([[], 0]);
    const { positions, newest_points } = await listMiscounts(store.db);
    expect([positions, newest_points]).toEqual([undefined, undefined]);
    await receive(store.db, [aReport({ domain: 'one.example' })]);
    expect((await readAfter(store, reports('one'), { after: 3 })).total).toBe(1);
    await store.close();
  });
});
