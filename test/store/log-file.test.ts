import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backUp } from '../../src/store/backup/backup.ts';
import { restore } from '../../src/store/backup/restore.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { serveApi } from '../support/api.ts';
import { aBareAccount } from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabasePath } from '../support/store.ts';

/** A copy of what a process leaves that is killed: a database, and beside it the log with its newest changes. */
async function aKilledDatabase() {
  const [path, open] = [aDatabasePath(), aDatabasePath()];
  const store = await openStore(open);
  await aBareAccount(store.db);
  for (const end of ['', '-wal']) copyFileSync(`${open}${end}`, `${path}${end}`);
  const backup = join(dirname(path), 'backup');
  await backUp({ from: open, to: backup });
  await store.close();
  return { path, backup };
}

async function countAccounts(path: string): Promise<number> {
  const store = await openStore(path, { mustExist: true });
  const accounts = await store.db.selectFrom('account').select('id').execute();
  await store.close();
  return accounts.length;
}

test('the log of another database, and of one that a backup was copied over, was read into it', async () => {
  const { path, backup } = await aKilledDatabase();
  const other = aDatabasePath();
  await (await openStore(other)).close();
  for (const copied of [other, backup]) {
    const mixed = aDatabasePath();
    copyFileSync(copied, mixed);
    copyFileSync(`${path}-wal`, `${mixed}-wal`);
    await expect(openStore(mixed)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(`${mixed}-wal is the log of another database.*Move it`),
    });
    renameSync(`${mixed}-wal`, `${mixed}.kept`);
    rmSync(`${mixed}-shm`, { force: true });
    expect(await countAccounts(mixed)).toBe(copied === backup ? 1 : 0);
  }
  expect(await countAccounts(path)).toBe(1);
});

test('processes that make a database together give it one number', async () => {
  const path = aDatabasePath();
  // They end without closing it, so there is a log.
  const text = `import { openStore } from 'src/store/engine/open.ts';
    await openStore(process.argv[1]);`;
  await runTogether(3, path, text);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  expect(await countAccounts(path)).toBe(0);
});

test('an empty file was served as a new database, although the folder of backups has some', async () => {
  const { path, backup } = await aKilledDatabase();
  const backupFolder = join(dirname(path), 'backups');
  mkdirSync(backupFolder);
  renameSync(backup, join(backupFolder, 'plumbline-2026-03-15.db'));
  rmSync(`${path}-wal`);
  writeFileSync(path, '');
  for (const mustExist of [false, true])
    await expect(openStore(path, { backupFolder, mustExist })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('plumbline restore'),
    });
  expect(statSync(path).size).toBe(0);
  const from = join(backupFolder, 'plumbline-2026-03-15.db');
  await restore({ from, to: path, now: () => new Date() });
  expect(await countAccounts(path)).toBe(1);
});

test.each(['', '-wal'])(
  'a process went on without “plumbline.db%s”, which was removed, and said that it is ready',
  async (end) => {
    const path = aDatabasePath();
    const store = await openStore(path);
    onTestFinished(() => store.close());
    const { send } = await serveApi({ store });
    expect((await send('/readyz')).status).toBe(200);
    rmSync(`${path}${end}`);
    const { status, body } = await send('/readyz');
    expect([status, body]).toEqual([503, { status: 'unavailable' }]);
    await expect(aBareAccount(store.db)).rejects.toThrow(/was removed while it was open/);
  },
);
