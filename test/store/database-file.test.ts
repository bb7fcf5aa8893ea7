import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openStore, toDatabaseError } from '../../src/store/engine/open.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { anAccount, aReport, receive } from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabasePath } from '../support/store.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

async function openAndClose(path: string): Promise<void> {
  await (await openStore(path)).close();
}

describe('a new database', () => {
  test('and the folders made for it are for this user only; a folder that was there stays as it is', async () => {
    const before = dirname(aDatabasePath());
    chmodSync(before, 0o755);
    const path = join(before, 'a', 'b', 'plumbline.db');
    await openAndClose(path);
    expect([path, dirname(path), dirname(dirname(path)), before].map(modeOf)).toEqual([
      '600',
      '700',
      '700',
      '755',
    ]);
  });

  test('keeps its write-ahead log for this user only too', async () => {
    const path = aDatabasePath();
    const store = await openStore(path);
    await anAccount(store.db);
    expect(modeOf(`${path}-wal`)).toBe('600');
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(['plumbline.db']);
  });

  test('has pages in which originals of some 2,000 bytes leave little empty', async () => {
    const path = aDatabasePath();
    await openAndClose(path);
    const database = new Database(path, { readonly: true });
    expect(database.pragma('page_size', { simple: true })).toBe(8_192);
    database.close();
  });

  test('is not made when it must exist', async () => {
    const path = aDatabasePath();
    await expect(openStore(path, { mustExist: true })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(`There is no database at ${path}.*PLUMBLINE_DATABASE`),
    });
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

test('an empty database is not made where a database was that has backups', async () => {
  const path = aDatabasePath();
  const backupFolder = join(dirname(path), 'backups');
  await (await openStore(path, { backupFolder })).close();
  rmSync(path);
  mkdirSync(backupFolder);
  const backup = join(backupFolder, 'plumbline-2026-03-15.db');
  writeFileSync(backup, '');
  await expect(openStore(path, { backupFolder })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`plumbline restore ${backup}`),
  });
  expect(readdirSync(dirname(path))).toEqual(['backups']);
  rmSync(backup);
  await (await openStore(path, { backupFolder })).close();
});

test('a backup that was made by hand, as today.db, did not count; one of an empty database was recommended', async () => {
  const path = aDatabasePath();
  const backupFolder = join(dirname(path), 'backups');
  mkdirSync(backupFolder);
  const today = join(backupFolder, 'today.db');
  const store = await openStore(today);
  await receive(store.db, [aReport({ domain: 'example.com' })]);
  await store.close();
  writeFileSync(join(backupFolder, 'notes.txt'), 'no database');
  const empty = join(backupFolder, 'plumbline-2099-03-15.db');
  await openAndClose(empty);
  await expect(openStore(path, { backupFolder })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`plumbline restore ${today}`),
  });
  rmSync(today);
  await expect(openStore(path, { backupFolder })).rejects.toThrow(`plumbline restore ${empty}`);
  rmSync(empty);
  await openAndClose(path);
});

test('a link to a backup, and one that cannot be opened, did not count', async () => {
  const path = aDatabasePath();
  const backupFolder = join(dirname(path), 'backups');
  mkdirSync(backupFolder);
  const elsewhere = join(dirname(path), 'elsewhere.db');
  await openAndClose(elsewhere);
  symlinkSync(elsewhere, join(backupFolder, 'newest'));
  symlinkSync(join(backupFolder, 'gone'), join(backupFolder, 'dangling'));
  await expect(openStore(path, { backupFolder })).rejects.toThrow(/plumbline restore .*newest/);
  rmSync(join(backupFolder, 'newest'));
  // A socket's file in the place of the log, for one, keeps SQLite from opening it.
  await openAndClose(join(backupFolder, 'today.db'));
  mkdirSync(join(backupFolder, 'today.db-wal'));
  await expect(openStore(path, { backupFolder })).rejects.toThrow(/plumbline restore .*today/);
});

test('what was deleted stayed readable in free pages of the file', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  const orgName = 'A reporter with a name that nothing else has';
  for (let i = 0; i < 40; i += 1)
    await receive(store.db, [aReport({ orgName, reportId: `r${i}` })]);
  const reports = await store.db.selectFrom('report').select('id').execute();
  const count = () => readFileSync(path, 'latin1').split(orgName).length - 1;
  const checkpoint = () => {
    const database = new Database(path);
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
  };
  checkpoint();
  expect(count()).toBeGreaterThan(0);
  for (const { id } of reports) await removeReport(store.db, id, '2026-03-15T00:00:00Z');
  await store.db.write((tx) => tx.deleteFrom('reporter').execute());
  await store.close();
  checkpoint();
  expect(count()).toBe(0);
});

test('a database of 1.1 was refused with advice that no longer works', async () => {
  const path = aDatabasePath();
  const old = new Database(path);
  old.exec('create table kysely_migration (name text primary key, timestamp text)');
  old.exec("insert into kysely_migration values ('001-first', '2026-01-01')");
  old.close();
  await expect(openStore(path)).rejects.toThrow(/version 1\.1 or older.*ingest the reports again/s);
});

describe('a database that cannot be opened is named, with what to do', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ['text', (path) => writeFileSync(path, 'x'.repeat(5_000)), /is not a database, or is damaged/],
    ['a folder', (path) => mkdirSync(path), /is a folder: name a file in it/],
    ['a link to nothing', (path) => symlinkSync('/nowhere/x', path), /circle|no such file/],
    [
      'of another program',
      (path) => {
        const other = new Database(path);
        other.exec('create table song (title)');
        other.close();
      },
      /is that of another program/,
    ],
  ])('%s', async (_what, make, problem) => {
    const path = aDatabasePath();
    make(path);
    await expect(openStore(path)).rejects.toMatchObject({
      message: expect.stringMatching(problem),
    });
    await expect(openStore(path)).rejects.toThrow(path);
    await expect(openStore(path)).rejects.toThrow('PLUMBLINE_DATABASE');
  });

  test('of a newer version', async () => {
    const path = aDatabasePath();
    await openAndClose(path);
    const newer = new Database(path);
    newer.exec("insert into kysely_migration values ('9999-later', '2026-03-15')");
    newer.close();
    await expect(openStore(path)).rejects.toThrow(
      `The database ${path} was written by another version of Plumbline (migration 9999-later). Install`,
    );
  });

  test.each(['/proc/plumbline/plumbline.db', '/dev/null', '/dev/full'])(
    '%s, and the attempt ends',
    async (path) => {
      await expect(openStore(path)).rejects.toThrow(path);
    },
  );

  test('in a folder below a file', async () => {
    const file = aDatabasePath();
    writeFileSync(file, '');
    const path = join(file, 'plumbline.db');
    await expect(openStore(path)).rejects.toThrow('a part of the path is a file');
  });

  const isRoot = process.getuid?.() === 0;
  // All modules are loaded before the user changes: the other user may not read this checkout.
  const OPEN_AS_NOBODY = `import { openStore } from 'src/store/engine/open.ts';
    await (await openStore(':memory:')).close();
    await openStore('/dev/null').catch(() => undefined);
    process.setgid(65534);
    process.setuid(65534);
    await openStore(process.argv[1]).catch((error) => console.log(error.message));`;

  test.runIf(isRoot)('of another user', async () => {
    const path = aDatabasePath();
    await openAndClose(path);
    chmodSync(dirname(path), 0o755);
    const [message] = await runTogether(1, path, OPEN_AS_NOBODY);
    expect(message).toMatch(/this user may not access it.*run it as the user that owns them/);
    expect(message).toContain(path);
  });

  test.each([
    ['SQLITE_FULL', /disk is full. Make room/],
    ['SQLITE_IOERR_WRITE', /disk reports an error/],
    ['SQLITE_CORRUPT_VTAB', /damaged. Restore a backup/],
    ['SQLITE_BUSY_RECOVERY', /in use by another process/],
  ])('with the code %s', (code, problem) => {
    const error = toDatabaseError('/db/plumbline.db', Object.assign(new Error('x'), { code }));
    expect((error as Error).message).toMatch(problem);
    expect((error as Error).message).toContain('/db/plumbline.db');
  });

  test('any other error stays as it is', () => {
    const defect = new TypeError('x is undefined');
    expect(toDatabaseError('/db', defect)).toBe(defect);
  });
});
