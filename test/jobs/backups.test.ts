import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { backUpOfDay, startBackups } from '../../src/jobs/backups.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { createLeases } from '../../src/store/work/leases.ts';
import { anAccount } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';

test('a backup of each day is made once, and those that are kept no longer are removed', async () => {
  const folder = await aFolder();
  const database = join(await aFolder(), 'plumbline.db');
  const store = await openStore(database);
  await anAccount(store.db);
  for (const day of [1, 2, 3]) writeFileSync(join(folder, `plumbline-2026-03-0${day}.db`), '');
  writeFileSync(join(folder, 'notes.txt'), '');
  const kept = { days: 2, weeks: 0, months: 0 };
  const now = () => new Date('2026-03-15T23:59:59Z');
  await backUpOfDay({ database, folder, kept, now });
  const names = ['notes.txt', 'plumbline-2026-03-03.db', 'plumbline-2026-03-15.db'];
  expect(readdirSync(folder)).toEqual(names);
  const path = join(folder, 'plumbline-2026-03-15.db');
  const copy = await openStore(path, { mustExist: true });
  expect(await copy.db.selectFrom('account').select('id').execute()).toHaveLength(1);
  await copy.close();
  writeFileSync(path, 'made once');
  await backUpOfDay({ database, folder, kept, now });
  expect(readdirSync(folder)).toEqual(names);
  await store.close();
});

test('after a restart with a folder that was mended, the backup of the day waited for the next time', async () => {
  const folder = await aFolder();
  const database = join(await aFolder(), 'plumbline.db');
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const before = createLeases({ db: store.db, holder: 'before' });
  const claim = await before.claim(['backup'], 1);
  if (claim) await before.release(claim, { isComplete: true });
  const now = () => new Date();
  const kept = { days: 1, weeks: 0, months: 0 };
  const leases = createLeases({ db: store.db, holder: 'after' });
  const deps = { leases, log: pino({ level: 'silent' }), logError: () => {} };
  const { stop } = startBackups({ database, folder, kept, now }, deps);
  onTestFinished(stop);
  const isMade = () => readdirSync(folder).some((name) => /^plumbline-[-0-9]+\.db$/.test(name));
  await expect.poll(isMade, { timeout: PATIENCE_MS }).toBe(true);
});

test('one that cannot be made is an error that says why', async () => {
  const folder = await aFolder();
  const options = { folder, kept: { days: 1, weeks: 0, months: 0 }, now: () => new Date() };
  await expect(backUpOfDay({ database: join(folder, 'none.db'), ...options })).rejects.toThrow(
    /There is no database/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  [{ PLUMBLINE_BACKUP_TO: 'backups' }, /absolute path of a folder/],
  [{ PLUMBLINE_BACKUP_TO: '/b', PLUMBLINE_DATABASE: 'postgres://db.example/p' }, /SQLite/],
  [{ PLUMBLINE_BACKUP_KEEP: '7' }, /like 7,4,12/],
  [{ PLUMBLINE_BACKUP_KEEP: '0,0,0' }, /like 7,4,12/],
])('%o is refused', (env, why) => {
  expect(() => readConfig(env)).toThrow(why);
});
