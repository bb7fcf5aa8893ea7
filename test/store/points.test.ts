import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, test } from 'vitest';
import { parseStart, toCursor } from '../../src/domain/cursor.ts';
import { followAlerts } from '../../src/store/alerts/alert-list.ts';
import { openStore, type Store } from '../../src/store/connection/open.ts';
import {
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { parseItems } from '../../src/store/lists/page.ts';
import { BLOCK, insertGap } from '../../src/store/lists/points.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { followReports } from '../../src/store/reports/reports.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabasePath, aStore } from '../support/store.ts';

/** The ids of a page behind a position, and how many there are. */
async function readAfter(
  { reader, db }: Store,
  list: FollowedList<{ id: string }>,
  { after = 0, limit = 200, offset = 0 } = {},
) {
  const point = await db
    .selectFrom('list_point')
    .select('mark')
    .where('list_id', '=', list.id)
    .where('position', '>=', after)
    .orderBy('position')
    .executeTakeFirstOrThrow();
  const start = { position: after, mark: point.mark };
  const head = await findFollowedHead(reader, list, start);
  if (typeof head === 'string') throw new Error(head);
  const page = await readFollowedPage(reader, list, { start, page: { limit, offset }, head });
  expect(head).toMatchObject({ total: page.total, version: page.version });
  return { ids: parseItems(page).map(({ id }) => id), total: page.total, point: page.point };
}

test('pages behind any point are exact over many blocks, with gaps anywhere', async () => {
  const store = await aStore();
  const { id: accountId } = await anAccount(store.db);
  const domain = await aDomain(store.db, accountId);
  const count = 3 * BLOCK + 100;
  const reports = Array.from({ length: count }, () => aReport({ domain: domain.name }));
  await receive(store.db, reports);
  const list = followReports({ accountId, domainId: domain.id });
  const isGone = (position: number) =>
    position % 7 === 0 || (position > 1.2 * BLOCK && position < 2.2 * BLOCK);
  await store.db.write(async (tx) => {
    for (let position = 1; position <= count; position++) {
      if (!isGone(position)) continue;
      await tx.deleteFrom('report').where('position', '=', position).execute();
      await insertGap(tx, list.id, position);
    }
  });
  const rows = await store.db.selectFrom('report').select(['id', 'position']).execute();
  const left = rows.toSorted((a, b) => a.position - b.position);
  for (const after of [0, 6, 7, 8, BLOCK - 1, BLOCK, 1_500, 2 * BLOCK, 2_300, count - 1, count]) {
    const behind = left.filter(({ position }) => position > after);
    for (const offset of [0, 1, 5, 700, BLOCK, 1_200, 1_300, 2_000, behind.length]) {
      const { ids, total, point } = await readAfter(store, list, { after, limit: 3, offset });
      const expected = behind.slice(offset, offset + 3);
      expect([ids, total], `${after} ${offset}`).toEqual([
        expected.map(({ id }) => id),
        behind.length,
      ]);
      expect(point.position).toBe(expected.at(-1)?.position ?? after);
    }
  }
}, 60_000);

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

describe('a cursor', () => {
  const point = { position: 2 ** 48 - 1, mark: 'AZaz09-_' };

  test('is the text of a point, for one list', () => {
    const cursor = toCursor('reports:a', point);
    expect(cursor).toMatch(/^p[A-Za-z0-9_-]{25}$/);
    expect(parseStart('reports:a', cursor)).toEqual(point);
    expect(parseStart('reports:b', cursor)).toBeUndefined();
  });

  test.each(['', 'p', 'Start', `${'p'.repeat(26)}`, 'é'.repeat(26)])('%s is none', (text) => {
    expect(parseStart('reports:a', text)).toBeUndefined();
  });
});
