import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { listSequences } from '../../src/store/move/from-sqlite.ts';
import { cancelMove, moveDatabase } from '../../src/store/move/move.ts';
import { type Answer, serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAccount, aReport, NOW, receive } from '../support/builders.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aProgram } from '../support/program.ts';
import { aDatabasePath } from '../support/store.ts';
import { compareTables, listDifferences } from './compare.ts';
import { type Databases, startDatabases } from './databases.ts';
import { fillInstallation, type Installation } from './installation.ts';

let databases: Databases;

beforeAll(async () => {
  databases = await startDatabases();
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  const path = join(folder, 'plumbline.db');
  const store = await openStore(path);
  filled = { path, ...(await fillInstallation(store.db)) };
  await store.close();
  return async () => {
    await databases.stop();
    rmSync(folder, { recursive: true });
  };
});

const now = () => new Date();

/** A store that is closed at the end of the test, if not before. */
async function open(database: string): Promise<Store> {
  const store = await openStore(database);
  onTestFinished(() => store.close());
  return store;
}

let filled: Installation & { path: string };

/** A copy of a database that has rows in every table. */
function anInstallation(): Installation & { path: string } {
  const path = aDatabasePath();
  copyFileSync(filled.path, path);
  return { ...filled, path };
}

test('a move copies every row of every table unchanged, and none of the tables is empty', async () => {
  const { path } = anInstallation();
  const url = await databases.createBare();
  const moved = await moveDatabase({ from: path, to: url, now });
  const tables = await compareTables(path, url);
  for (const { name, rows, copies } of tables) {
    expect(rows.length, name).toBeGreaterThan(0);
    expect(copies, name).toEqual(rows);
    expect(moved).toContainEqual(expect.objectContaining({ table: name, rows: rows.length }));
  }
});

test('a text with U+0000 arrives with U+FFFD, as PostgreSQL stores it', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  await receive(store.db, [aReport({ orgName: 'a\0b' })]);
  await store.close();
  const url = await databases.create();
  await moveDatabase({ from: path, to: url, now });
  expect(await runOn(url, 'select reporter_org from report')).toEqual([
    { reporter_org: 'a\ufffdb' },
  ]);
});

describe('a partner notices nothing:', () => {
  const PAGE = ['etag', 'plumbline-cursor', 'link'] as const;
  const toPage = ({ status, text, headers }: Answer) => [
    status,
    text,
    ...PAGE.map((name) => headers[name]),
  ];

  /** An answer of the API on each of both databases. */
  async function aMovedApi() {
    const { path, account, domain } = anInstallation();
    const oldStore = await openStore(path);
    const before = await serveApi({ store: oldStore });
    const reports = `/v1/external/domains/${domain.id}/reports`;
    const lists = ['/v1/external/domains', '/v1/external/alerts', reports];
    const pages = lists.flatMap((list) => [list, `${list}?limit=3&offset=1`]);
    const old = new Map<string, Answer>();
    for (const page of pages) old.set(page, await before.get(page, { key: account.key }));
    await oldStore.close();
    const url = await databases.create();
    await moveDatabase({ from: path, to: url, now });
    const store = await openStore(url);
    const after = await serveApi({ store });
    const ask = (page: string, headers = {}) => after.get(page, { key: account.key, headers });
    return { old, ask, store, reports, account };
  }

  test('the key of before gets the same bytes, entity tags and cursors', async () => {
    const { old, ask } = await aMovedApi();
    expect(old.size).toBe(6);
    for (const [page, answer] of old) {
      expect(answer.status, page).toBe(200);
      expect(toPage(await ask(page)), page).toEqual(toPage(answer));
    }
  });

  test('an entity tag of before gets a 304', async () => {
    const { old, ask } = await aMovedApi();
    for (const [page, { headers }] of old)
      expect((await ask(page, { 'if-none-match': headers['etag'] })).status, page).toBe(304);
  });

  test('a cursor of before goes on with exactly what is new', async () => {
    const { old, ask, store, reports } = await aMovedApi();
    const cursor = old.get(reports)?.headers['plumbline-cursor'];
    expect((await ask(`${reports}?received_after=${cursor}`)).body.data).toEqual([]);
    await receive(store.db, [aReport({ totalMessages: 12_345 })]);
    const { body } = await ask(`${reports}?received_after=${cursor}`);
    expect(body.data).toEqual([expect.objectContaining({ total_messages: 12_345 })]);
    const all = await ask(`${reports}?received_after=start&limit=200`);
    expect(all.body.data).toHaveLength(74);
  });
});

test('numbers go on after the largest one ever given, also when its row was removed', async () => {
  const { path, account } = anInstallation();
  const before = await open(path);
  const removed = await aDomain(before.db, account.id);
  await removeDomain(before.db, removed.id, { deletesReports: true });
  await before.close();
  const source = new Database(path, { readonly: true });
  const last = new Map(listSequences(source).map(({ table, largest }) => [table, largest]));
  source.close();
  const url = await databases.create();
  await moveDatabase({ from: path, to: url, now });
  const { db } = await open(url);
  await receive(db, [aReport({ reportId: 'new' })]);
  await receive(db, [aReport({ reportId: 'new', payload: 'other' })]);
  await insertApiKey(db, { accountId: account.id, name: 'new', now: NOW });
  await aDomain(db, await aBareAccount(db));
  for (const table of ['report', 'conflict', 'domain', 'account'])
    expect(await runOn(url, `select max(seq)::int as seq from ${table}`), table).toEqual([
      { seq: (last.get(table) ?? 0) + 1 },
    ]);
});

describe('the SQLite database,', () => {
  test('once it was moved, is opened by nothing', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    await moveDatabase({ from: path, to: url, now });
    const moved = {
      code: 'conflict',
      message: expect.stringMatching(
        /was moved to PostgreSQL at .+ Set PLUMBLINE_DATABASE to postgres:/,
      ),
    };
    await expect(openStore(path)).rejects.toMatchObject(moved);
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toMatchObject(moved);
  });

  test('is not moved while a process has it open', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    const old = await open(path);
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is in use: stop every process'),
    });
    await anAccount(old.db);
    await old.close();
    await moveDatabase({ from: path, to: url, now });
    expect(await countAccounts(url)).toBe(3);
  });

  test('is read, written and opened by nothing while it is moved', async () => {
    const { path } = anInstallation();
    const found: unknown[] = [];
    const onProgress = () => {
      const other = new Database(path, { timeout: 0 });
      for (const statement of ['select id from account', "update account set name = 'x'"])
        found.push(catchCode(() => other.prepare(statement).run()));
      other.close();
    };
    await moveDatabase({ from: path, to: await databases.create(), now, onProgress });
    expect(new Set(found)).toEqual(new Set(['SQLITE_BUSY']));
  });

  test('is still the same database after a move to a database that cannot be reached', async () => {
    const { path } = anInstallation();
    const to = 'postgres://nobody@127.0.0.1:1/nothing';
    await expect(moveDatabase({ from: path, to, now })).rejects.toThrow('ECONNREFUSED');
    const { db } = await open(path);
    await anAccount(db);
  });
});

function catchCode(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

async function countAccounts(database: string): Promise<number> {
  const { db } = await open(database);
  const accounts = db.selectFrom('account').select(({ fn }) => fn.countAll<number>().as('count'));
  return (await accounts.executeTakeFirstOrThrow()).count;
}

describe('a move that was interrupted', () => {
  /** Ends with an error after some progress. */
  async function anInterruptedMove() {
    const { path } = anInstallation();
    const url = await databases.create();
    const onProgress = ({ rows }: { rows: number }) => {
      if (rows > 30) throw new Error('interrupted');
    };
    await expect(moveDatabase({ from: path, to: url, now, onProgress })).rejects.toThrow(
      'interrupted',
    );
    return { path, url };
  }

  test('begins anew, and ends with the same rows', async () => {
    const { path, url } = await anInterruptedMove();
    let first = Number.POSITIVE_INFINITY;
    const onProgress = ({ rows }: { rows: number }) => {
      first = Math.min(first, rows);
    };
    await moveDatabase({ from: path, to: url, now, onProgress });
    expect(first).toBe(2);
    expect(await listDifferences(path, url)).toEqual([]);
  });

  test('leaves a target without rows', async () => {
    const { path, url } = await anInterruptedMove();
    const tables = await compareTables(path, url);
    expect(tables.flatMap(({ copies }) => copies)).toEqual([]);
  });

  test('leaves the SQLite database as it was', async () => {
    const { path } = await anInterruptedMove();
    expect(await countAccounts(path)).toBe(2);
    await anAccount((await open(path)).db);
  });

  test('can have another target', async () => {
    const { path } = await anInterruptedMove();
    const url = await databases.create();
    await moveDatabase({ from: path, to: url, now });
    expect(await listDifferences(path, url)).toEqual([]);
  });

  test('between both commits finds the same rows in both databases, and finishes', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    await moveDatabase({ from: path, to: url, now });
    cancelMove(path);
    await moveDatabase({ from: path, to: url, now });
    expect(await listDifferences(path, url)).toEqual([]);
    await expect(openStore(path)).rejects.toThrow('was moved to PostgreSQL');
  });
});

describe('a move that was cancelled', () => {
  async function aCancelledMove() {
    const { path } = anInstallation();
    const url = await databases.create();
    await moveDatabase({ from: path, to: url, now });
    expect(cancelMove(path)).toEqual({ at: expect.any(String), to: url });
    return { path, url };
  }

  test('lets SQLite be used again, and be moved to another database', async () => {
    const { path } = await aCancelledMove();
    const store = await open(path);
    await anAccount(store.db);
    await store.close();
    const other = await databases.create();
    await moveDatabase({ from: path, to: other, now });
    expect(await countAccounts(other)).toBe(3);
  });

  test('is not finished with a target that was emptied, but begun anew', async () => {
    const { path, url } = await aCancelledMove();
    await runOn(url, 'truncate account cascade');
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toThrow('is not empty');
    for (const { name } of await compareTables(path, url))
      await runOn(url, `truncate ${name} cascade`);
    await moveDatabase({ from: path, to: url, now });
    expect(await listDifferences(path, url)).toEqual([]);
  });

  test.each([
    [
      'a row that differs',
      "update domain set reports_version = 'other' where name = 'example.com'",
    ],
    [
      'a row too many',
      `insert into account (id, name, plan, created_at, mail_token, domains_version, all_domains_version,
        alerts_version, reports_version, changes_nonce)
        select gen_random_uuid(), name, plan, created_at, 'other', '', '', '', '', '' from account limit 1`,
    ],
  ])('does not take a target with %s for the same', async (_, statement) => {
    const { path, url } = await aCancelledMove();
    await runOn(url, statement);
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toThrow('is not empty');
    await anAccount((await open(path)).db);
  });
});

describe('a target', () => {
  test.each([
    ['changes a row', 'new.name = new.name || $$!$$; return new'],
    ['drops a row', 'return null'],
  ])('that %s is noticed, and stays empty', async (_, body) => {
    const { path } = anInstallation();
    const url = await databases.create();
    await runOn(
      url,
      `create function spoil() returns trigger language plpgsql as 'begin ${body}; end';
      create trigger spoil before insert on account for each row execute function spoil()`,
    );
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toThrow(
      'The copy of account has other rows: 2 rows in SQLite',
    );
    expect(await countAccounts(url)).toBe(0);
    expect(await countAccounts(path)).toBe(2);
  });

  test('is used by nothing until it is filled', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    const waits = 'set lock_timeout = 1; select id from account';
    const others: Promise<unknown>[] = [];
    const onProgress = () => {
      others.push(runOn(url, waits).catch(({ code }) => code));
    };
    await moveDatabase({ from: path, to: url, now, onProgress });
    expect((await Promise.all(others))[0]).toBe('55P03');
  });

  test('that is in use is refused, and the SQLite database stays as it was', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    const used = await open(url);
    await anAccount(used.db);
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toThrow('is not empty');
    await anAccount((await open(path)).db);
  });

  test('that has the tables of Plumbline and no rows is filled', async () => {
    const { path } = anInstallation();
    const url = await databases.create();
    await (await openStore(url)).close();
    await moveDatabase({ from: path, to: url, now });
    expect(await listDifferences(path, url)).toEqual([]);
  });

  test('of another program is refused', async () => {
    const { path } = anInstallation();
    const url = await databases.createBare();
    await runOn(url, 'create table theirs (id int)');
    await expect(moveDatabase({ from: path, to: url, now })).rejects.toThrow('another program');
    await anAccount((await open(path)).db);
  });
});

describe('plumbline move', () => {
  test('prints each table, and where to go on', async () => {
    const { run, json, database } = aProgram({ PLUMBLINE_BACKUP_TO: '/srv/backups' });
    await json('account', 'create', 'My company');
    writeFileSync(`${database}.key`, Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 });
    const url = await databases.create();
    const { status, stdout, stderr } = await run(['move', url]);
    expect({ status, stdout, stderr }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/account +1 .+Every row of .+ is in postgres:/s),
    });
    // Webhooks were silently never sent after it, and every command refused the folder of backups.
    const lines = ['Change the configuration', `  PLUMBLINE_DATABASE=${url}`];
    lines.push(`  PLUMBLINE_SECRETS_KEY_FILE=${database}.key`, '  PLUMBLINE_BACKUP_TO: remove it');
    for (const line of lines) expect(stderr).toContain(line);
    const again = await run(['move', url]);
    expect(again).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('was moved to PostgreSQL'),
    });
    expect(await json('move', '--cancel')).toEqual({ cancelled: url });
    expect(await json('account', 'list')).toHaveLength(1);
  });

  test('says to make a key where SQLite had none', async () => {
    const { run, json } = aProgram();
    await json('account', 'create', 'My company');
    const { stderr } = await run(['move', await databases.create()]);
    expect(stderr).toContain(
      '  PLUMBLINE_SECRETS_KEY_FILE: make a key, as plumbline help postgresql',
    );
  });

  test('--cancel says that the SQLite database has to be named again', async () => {
    const { run } = aProgram({ PLUMBLINE_DATABASE: 'postgres://a@127.0.0.1/b' });
    expect(await run(['move', '--cancel'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('set it to the SQLite database that was moved'),
    });
  });

  test('with --json prints one object, with the number of rows and a checksum for each table', async () => {
    const { json } = aProgram();
    await json('account', 'create', 'My company');
    const url = await databases.create();
    const { to, tables } = await json('move', url);
    expect(to).toBe(url);
    expect(tables[0]).toEqual({
      table: 'account',
      rows: 1,
      checksum: expect.stringMatching(/^[0-9a-f]{1,16}$/),
    });
  });

  test.each([
    [['move'], 2, 'Name the database to move to'],
    [['move', 'plumbline.db'], 2, 'Name the database to move to'],
    [['move', '--cancel', 'postgres://a@127.0.0.1/b'], 2, '--cancel needs no URL'],
    [['move', '--cancel'], 1, 'was not moved'],
    [['move', 'postgres://nobody@127.0.0.1:1/b'], 1, 'cannot be reached'],
    // It named PLUMBLINE_DATABASE, which is the SQLite database.
    [['move', 'postgres://nobody@127.0.0.1:1/b'], 1, '(the URL of the move)'],
  ])('%j ends with status %i', async (args, wanted, words) => {
    const { run, json } = aProgram();
    await json('account', 'create', 'My company');
    const { status, stderr } = await run(args);
    expect({ status, stderr }).toEqual({ status: wanted, stderr: expect.stringContaining(words) });
  });

  test('does not show the password of the URL', async () => {
    const { run, json } = aProgram();
    await json('account', 'create', 'My company');
    const { stderr } = await run(['move', 'postgres://nobody:hidden@127.0.0.1:1/b']);
    expect(stderr).toContain('postgres://nobody@127.0.0.1:1/b');
    expect(stderr).not.toContain('hidden');
  });
});
