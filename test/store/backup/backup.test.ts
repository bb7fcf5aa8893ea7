import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { backUp } from '../../../src/store/backup/backup.ts';
import { restore } from '../../../src/store/backup/restore.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { repair } from '../../../src/store/verify/verify.ts';
import { aBareAccount, aDomain, aReport, receive } from '../../support/builders.ts';
import { aFolder } from '../../support/command.ts';
import { moduleOf } from '../../support/processes.ts';
import { listMiscounts } from '../../support/recount.ts';

const now = () => new Date('2026-03-15T04:12:09Z');

/** A database with a report, which stays open. */
async function aDatabase() {
  const folder = await aFolder();
  const path = join(folder, 'plumbline.db');
  const store = await openStore(path);
  const accountId = await aBareAccount(store.db);
  const { name: domain } = await aDomain(store.db, accountId);
  await receive(store.db, [aReport({ domain, reportId: 'Example' })]);
  return { folder, path, store, domain, to: join(folder, 'copy.db') };
}

async function countReports(path: string): Promise<number> {
  const store = await openStore(path, { mustExist: true });
  try {
    expect(await listMiscounts(store.db)).toEqual({});
    return (await store.db.selectFrom('report').select('id').execute()).length;
  } finally {
    await store.close();
  }
}

describe('a backup', () => {
  test('of an open database is one file that only its user can read, and has everything', async () => {
    const { path, store, to, folder } = await aDatabase();
    expect(await backUp({ from: path, to })).toEqual({ path: to, bytes: statSync(to).size });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    await store.close();
    expect(readdirSync(folder).sort()).toEqual(['copy.db', 'plumbline.db']);
    expect(await countReports(to)).toBe(1);
  });

  test('has what the database had when it began, although another connection writes all the time', async () => {
    const { path, store, to, domain } = await aDatabase();
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      while (!isOver) await receive(store.db, [aReport({ domain, reportId: `n${++written}` })]);
    })();
    await backUp({ from: path, to });
    isOver = true;
    await writing;
    await store.close();
    expect(written).toBeGreaterThan(0);
    expect(await countReports(to)).toBeLessThanOrEqual(1 + written);
  });

  test('replaces a file only when that is wanted, and never one of the database, nor its key', async () => {
    const { path, store, to } = await aDatabase();
    writeFileSync(to, 'mine');
    await expect(backUp({ from: path, to })).rejects.toThrow(/exists already/);
    expect(readFileSync(to, 'utf8')).toBe('mine');
    await backUp({ from: path, to, force: true });
    for (const own of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`, `${path}.key`]) {
      const options = { from: path, to: own, force: true, others: [`${path}.key`] };
      await expect(backUp(options), own).rejects.toThrow(/of its own/);
    }
    await store.close();
    expect(await countReports(to)).toBe(1);
  });

  test('replaced a device or a FIFO, and what a link leads to', async () => {
    const { path, store, to, folder } = await aDatabase();
    execFileSync('sh', ['-c', 'mkfifo "$0"', to]);
    const link = join(folder, 'link.db');
    symlinkSync('/dev/null', link);
    for (const other of [to, link, folder])
      await expect(backUp({ from: path, to: other, force: true })).rejects.toThrow(
        /is not a regular file/,
      );
    expect(lstatSync(to).isFIFO()).toBe(true);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    await store.close();
  });

  test('of a database whose total is wrong fails, and says how to mend it', async () => {
    const { path, store, to, folder } = await aDatabase();
    await store.db.write((tx) => tx.updateTable('domain').set({ reports_total: 2 }).execute());
    await expect(backUp({ from: path, to })).rejects.toThrow(
      /reports_total .* is 2, not 1.*--repair/,
    );
    await Array.fromAsync(repair(store));
    await backUp({ from: path, to });
    await store.close();
    expect(readdirSync(folder).sort()).toEqual(['copy.db', 'plumbline.db']);
  });

  test('of a damaged database fails, and leaves nothing behind', async () => {
    const { path, store, to, folder } = await aDatabase();
    await store.close();
    const size = statSync(path).size;
    truncateSync(path, size - 8_192 * 3);
    appendFileSync(path, Buffer.alloc(8_192 * 3, 7));
    await expect(backUp({ from: path, to })).rejects.toThrow(/is damaged/);
    expect(readdirSync(folder)).toEqual(['plumbline.db']);
  });
});

/** A process that has begun to make the file. */
async function aMaker(path: string) {
  const text = `
    import { appendFileSync } from 'node:fs';
    import { makeWholeFile } from 'src/store/engine/sqlite/whole-file.ts';
    await makeWholeFile(process.argv[1], async (part) => {
      appendFileSync(part, 'begun');
      console.log(part);
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
  const child = spawn(process.execPath, moduleOf(text).concat(path));
  onTestFinished(() => void child.kill('SIGKILL'));
  const [part] = await once(child.stdout, 'data');
  return { child, part: String(part).trim() };
}

describe('a backup that was killed', () => {
  test('left a copy for ever: a day later the next one into the folder removes it, and nothing that a process still writes', async () => {
    const { path, store, folder } = await aDatabase();
    const [killed, alive] = [
      await aMaker(join(folder, 'killed.db')),
      await aMaker(join(folder, 'alive.db')),
    ];
    const ended = once(killed.child, 'exit');
    killed.child.kill('SIGKILL');
    await ended;
    expect(existsSync(killed.part)).toBe(true);
    writeFileSync(join(folder, 'mine.part'), 'mine');
    const before = new Date(Date.now() - 25 * 3_600_000);
    for (const old of [killed.part, join(folder, 'mine.part')]) utimesSync(old, before, before);
    await backUp({ from: path, to: join(folder, 'copy.db') });
    await store.close();
    const wanted = ['copy.db', 'mine.part', 'plumbline.db'];
    expect(readdirSync(folder).sort()).toEqual([basename(alive.part), ...wanted].sort());
    expect(readFileSync(alive.part, 'utf8')).toBe('begun');
  });

  test('into a folder that is not there named a file that nobody knows: it names the folder', async () => {
    const { path, store, folder } = await aDatabase();
    await store.close();
    await expect(backUp({ from: path, to: join(folder, 'none', 'b.db') })).rejects.toThrow(
      `Nothing can be written to the folder ${join(folder, 'none')}: there is no such file or folder.`,
    );
  });
});

describe('restoring', () => {
  test('of no backup told to set PLUMBLINE_DATABASE: it says what is wrong with the backup', async () => {
    const { path, store, to, folder } = await aDatabase();
    await backUp({ from: path, to });
    await store.close();
    truncateSync(to, statSync(to).size - 8_192 * 3);
    const text = join(folder, 'text.db');
    writeFileSync(text, 'This is a text, of more than sixteen characters.');
    const restoring = (from: string) => restore({ from, to: path, force: true, now });
    await expect(restoring(join(folder, 'none.db'))).rejects.toThrow(
      `There is no file ${join(folder, 'none.db')}: name a backup.`,
    );
    for (const from of [to, text])
      await expect(restoring(from)).rejects.toThrow(
        `${from} is not a database, or is damaged. Nothing was changed: restore another backup.`,
      );
    expect(await countReports(path)).toBe(1);
  });

  test('puts the backup in the place of the database, and keeps what was there', async () => {
    const { path, store, to, domain } = await aDatabase();
    await backUp({ from: path, to });
    await receive(store.db, [aReport({ domain, reportId: 'later' })]);
    await store.close();
    await expect(restore({ from: to, to: path, now })).rejects.toThrow(/There is a database/);
    const { kept } = await restore({ from: to, to: path, force: true, now });
    expect(kept).toBe(`${path}.before-20260315T041209.000Z`);
    expect(await countReports(path)).toBe(1);
    expect(await countReports(kept as string)).toBe(2);
    expect(await countReports(to)).toBe(1);
  });

  test('is refused while a process has the database open, and then nothing is changed', async () => {
    const { path, store, to, folder } = await aDatabase();
    await backUp({ from: path, to });
    await expect(restore({ from: to, to: path, force: true, now })).rejects.toThrow(/is in use/);
    await store.close();
    expect(readdirSync(folder).sort()).toEqual(['copy.db', 'plumbline.db']);
  });

  test('a log of the old database that lies beside it does not get into the restored one', async () => {
    const { path, store, to, domain, folder } = await aDatabase();
    await backUp({ from: path, to });
    await receive(store.db, [aReport({ domain, reportId: 'later' })]);
    // As a killed process leaves them; somebody then removes the database and leaves the log.
    const other = join(folder, 'other', 'plumbline.db');
    const killed = await aFolder();
    for (const end of ['-wal', '-shm']) copyFileSync(`${path}${end}`, join(killed, `p.db${end}`));
    await store.close();
    expect(existsSync(dirname(other))).toBe(false);
    const target = join(killed, 'p.db');
    await restore({ from: to, to: target, now });
    expect(readdirSync(killed).sort()).toEqual([
      'p.db',
      'p.db.before-20260315T041209.000Z-shm',
      'p.db.before-20260315T041209.000Z-wal',
    ]);
    expect(await countReports(target)).toBe(1);
  });

  test.skipIf(!existsSync('/proc/locks'))(
    'a process that opens a database twice, and backs it up, keeps its lock on the file',
    async () => {
      const { path, store, to } = await aDatabase();
      const { ino } = statSync(path);
      const hasLock = () =>
        new RegExp(` ${process.pid} \\S+:${ino} `).test(readFileSync('/proc/locks', 'utf8'));
      expect(hasLock()).toBe(true);
      const again = await openStore(path);
      await backUp({ from: path, to });
      await again.close();
      expect(hasLock()).toBe(true);
      await store.close();
      expect(hasLock()).toBe(false);
    },
  );

  test('over a database that is damaged is possible', async () => {
    const { path, store, to } = await aDatabase();
    await backUp({ from: path, to });
    await store.close();
    writeFileSync(path, Buffer.alloc(20_000, 'not a database'));
    const { kept } = await restore({ from: to, to: path, force: true, now });
    expect(statSync(kept as string).size).toBe(20_000);
    expect(await countReports(path)).toBe(1);
  });

  test('what is no backup is refused before anything changes', async () => {
    const { path, store, to } = await aDatabase();
    await backUp({ from: path, to });
    const open = `${to}-open`;
    copyFileSync(path, open);
    writeFileSync(`${open}-wal`, 'log');
    const text = `${to}-text`;
    writeFileSync(text, 'hello, this is not a database at all');
    const foreign = `${to}-foreign`;
    new Database(foreign).exec('create table a (b)').close();
    const newer = `${to}-newer`;
    copyFileSync(to, newer);
    const later = new Database(newer);
    later.exec("insert into kysely_migration values ('9999-later', '2026-03-15')");
    later.close();
    await store.close();
    for (const [from, why] of [
      [open, /write-ahead log beside it/],
      [text, /is not a database/],
      [foreign, /not a database of Plumbline/],
      [newer, /another version/],
      [`${to}-none`, /There is no file .*: name a backup/],
      [dirname(to), /There is no file/],
    ] as const)
      await expect(restore({ from, to: path, force: true, now }), from).rejects.toThrow(why);
    expect(await countReports(path)).toBe(1);
  });
});
