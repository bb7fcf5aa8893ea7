import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { hashSecret } from '../../src/domain/access/secret.ts';
import { findKeyHolder, updateApiKey } from '../../src/store/accounts/api-keys.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { readPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import {
  aBareAccount,
  aDomain,
  anAccount,
  aReport,
  NOW,
  receive,
  toCode,
} from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabasePath } from '../support/store.ts';

const OPEN = `import { openStore } from 'src/store/engine/open.ts';
  const store = await openStore(process.argv[1]);
  await store.db.selectFrom('account').selectAll().execute();
  await store.close();
  console.log('opened');`;

/** The schema as text, table by table. */
function schemaOf(path: string): unknown[] {
  const database = new Database(path, { readonly: true });
  const schema = database.prepare('select name, sql from sqlite_schema order by name').all();
  database.close();
  return schema;
}

describe('openStore', () => {
  test('creates the folder, the file and the tables', async () => {
    const path = join(dirname(aDatabasePath()), 'a', 'b', 'plumbline.db');
    const store = await openStore(path);
    expect(await store.db.selectFrom('account').selectAll().execute()).toEqual([]);
    await store.close();
    expect(existsSync(path)).toBe(true);
  });

  test('again changes nothing and keeps the data', async () => {
    const path = aDatabasePath();
    const first = await openStore(path);
    const { id } = await anAccount(first.db);
    await first.close();
    const schema = schemaOf(path);
    const second = await openStore(path);
    const accounts = await second.db.selectFrom('account').select('id').execute();
    await second.close();
    expect(accounts).toEqual([{ id }]);
    expect(schemaOf(path)).toEqual(schema);
  });

  test('of a new file by several processes at the same time works for each of them', async () => {
    for (let round = 0; round < 3; round++) {
      const printed = await runTogether(4, aDatabasePath(), OPEN);
      expect(printed).toEqual(['opened', 'opened', 'opened', 'opened']);
    }
  });

  test('a migration that fails leaves no partial change, and can be run again', async () => {
    const path = aDatabasePath();
    // One of our tables exists already, so the first migration fails in the middle.
    const before = new Database(path);
    before.exec('create table kysely_migration (name varchar(255), timestamp varchar(255))');
    before.exec('create table report (x)');
    before.close();
    await expect(openStore(path)).rejects.toThrow(/already exists/);
    const after = new Database(path);
    after.exec('drop table report');
    after.close();
    const store = await openStore(path);
    expect(await store.db.selectFrom('report').selectAll().execute()).toEqual([]);
    await store.close();
  });
});

describe('reads', () => {
  test('do not wait for a write in progress, and see the state before it', async () => {
    const store = await openStore(aDatabasePath());
    const accountId = await aBareAccount(store.db);
    const { id: domainId, name } = await aDomain(store.db, accountId);
    await receive(store.db, [aReport({ domain: name })]);
    const read = () =>
      readPage(store.reader, reportsOf({ domainId, accountId }), { limit: 9, offset: 0 });
    const release = Promise.withResolvers<void>();
    const writing = store.db.write(async (tx) => {
      await tx.updateTable('domain').set({ reports_total: 99 }).execute();
      await release.promise;
    });
    expect((await read()).total).toBe(1);
    release.resolve();
    await writing;
    expect((await read()).total).toBe(99);
    await store.close();
  });

  test('see what this process or another one has changed in the meantime', async () => {
    const path = aDatabasePath();
    const [store, other] = [await openStore(path), await openStore(path)];
    const { key, keyId } = await anAccount(store.db);
    const find = () => findKeyHolder(store.reader, hashSecret(key));
    const found = await find();
    expect(found?.keyId).toBe(keyId);
    await aBareAccount(other.db);
    expect(await find()).toEqual(found);
    await updateApiKey(store.db, keyId, false);
    expect(await find()).toBeUndefined();
    await updateApiKey(other.db, keyId, true);
    expect(await find()).toEqual(found);
    await other.close();
    await store.close();
  });

  test('total, version and rows are from one snapshot while another process writes', async () => {
    const path = aDatabasePath();
    const store = await openStore(path);
    const accountId = await aBareAccount(store.db);
    const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
    let isDone = false;
    const writing = runTogether(
      1,
      path,
      `import { receiveInputs } from 'scripts/receive.ts';
      import { openStore } from 'src/store/engine/open.ts';
      const report = ${toCode(aReport())};
      const { db } = await openStore(process.argv[1]);
      for (let i = 0; i < 150; i++) {
        const metadata = { ...report.metadata, reportId: String(i) };
        const bytes = Buffer.from('f' + i);
        const documents = [{ member: [], content: { ...report, metadata } }];
        await receiveInputs(db, [{ name: 'x', bytes, documents }], '${NOW}');
      }`,
    ).finally(() => {
      isDone = true;
    });
    const versions = new Map<string, number>();
    const page = { limit: 200, offset: 0 };
    while (!isDone) {
      const list = reportsOf({ domainId, accountId });
      const { total, items, version } = await readPage(store.reader, list, page);
      expect(items).toHaveLength(total);
      expect(versions.get(version) ?? total).toBe(total);
      versions.set(version, total);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect(versions.size).toBeGreaterThan(2);
    await store.close();
  });
});

test('an error after which SQLite rolls back by itself is not hidden by rolling back again', async () => {
  const store = await openStore(aDatabasePath());
  const { id } = await anAccount(store.db);
  const copy = sql`insert or rollback into account select * from account`;
  await expect(store.db.write((tx) => copy.execute(tx))).rejects.toThrow(
    /UNIQUE.*account\.(seq|id|mail_token)/,
  );
  await store.db.write((tx) => tx.updateTable('account').set({ name: 'B' }).execute());
  expect(await store.db.selectFrom('account').select(['id', 'name']).execute()).toEqual([
    { id, name: 'B' },
  ]);
  await store.close();
});
