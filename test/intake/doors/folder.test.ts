import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import { watchFolder } from '../../../src/intake/doors/folder/folder-door.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { createDeliver } from '../../../src/store/inbox/deliver.ts';
import { listDoors, noteDoor } from '../../../src/store/inbox/doors.ts';
import { findResults } from '../../../src/store/inbox/mails.ts';
import { aFolder } from '../../support/command.ts';
import { aReportMail, aReportXml, listMailRows } from '../../support/inbox.ts';
import { aWorker } from '../../support/inbox-worker.ts';
import { mail, text } from '../../support/mail.ts';
import { aStore } from '../../support/store.ts';

type Given = Parameters<typeof watchFolder>[0];

/** Files settle by this clock. It is ahead of that of the file system by more than they need. */
let aheadMs = 10_000;
const realNow = Date.now;

let db: Db;
let folder: string;

beforeEach(async () => {
  ({ db } = await aStore());
  folder = await aFolder();
  aheadMs = 10_000;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  return () => vi.restoreAllMocks();
});

function watchIt(given: Partial<Given> = {}) {
  const warnings: string[] = [];
  const delivered: string[] = [];
  const door = watchFolder({
    path: folder,
    done: 'move',
    now: () => new Date('2026-08-01T00:00:00Z'),
    deliver: async (incoming) => {
      delivered.push(incoming.envelope.place ?? '');
      await createDeliver(db)(incoming);
    },
    findResults: (keys) => findResults(db, keys),
    noteDoor: (name, error) => noteDoor(db, name, error),
    warn: ({ path }, message) => warnings.push(`${path}: ${message}`),
    pollMs: 5,
    ...given,
  });
  const worker = aWorker(db);
  onTestFinished(async () => {
    await door.stop();
    await worker.stop();
  });
  return { door, warnings, delivered, worker };
}

const write = (name: string, content: string | Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isTrue())) await sleep(5);
}

const list = (...path: string[]) => {
  const at = join(folder, ...path);
  return existsSync(at) ? readdirSync(at).sort() : [];
};
const countReports = async () => (await db.selectFrom('report').select('seq').execute()).length;

describe('a drop folder', () => {
  test('gives its files to the inbox, and what is done is moved to Processed or Rejected', async () => {
    write('good.xml', aReportXml());
    write('mail.eml', aReportMail());
    write('broken.xml', aReportXml().slice(0, 500));
    write('other.txt', 'Hello');
    watchIt();
    await until(() => list('Processed').length + list('Rejected').length === 4);
    expect(list('Processed')).toEqual(['good.xml', 'mail.eml']);
    expect(list('Rejected')).toEqual(['broken.xml', 'other.txt']);
    expect(list()).toEqual(['Processed', 'Rejected']);
    expect(await countReports()).toBe(2);
    // As `plumbline ingest` says of the same files, and both are in the list of documents.
    const rejected = await db
      .selectFrom('inbox_mail')
      .select('result')
      .where('result', '=', 'rejected')
      .execute();
    expect(rejected).toHaveLength(2);
    expect(await db.selectFrom('rejection').selectAll().execute()).toHaveLength(2);
    expect(await db.selectFrom('door_state').select(['door', 'last_error']).execute()).toEqual([
      { door: `folder:${folder}`, last_error: null },
    ]);
  });

  test('keeps its files where they are when it is told to, and reads each once', async () => {
    for (const name of ['a.xml', 'b.xml']) write(name, aReportXml());
    const first = watchIt({ done: 'leave' });
    await until(async () => (await countReports()) === 2);
    await sleep(50);
    await first.door.stop();
    // A door that was started again knows them too.
    const second = watchIt({ done: 'leave' });
    write('c.xml', aReportXml());
    await until(async () => (await countReports()) === 3);
    await sleep(50);
    expect(first.delivered).toHaveLength(2);
    expect(second.delivered).toEqual([join(folder, 'c.xml')]);
    expect(list()).toEqual(['a.xml', 'b.xml', 'c.xml']);
  });

  test('does not read a file that is being written', async () => {
    aheadMs = 0;
    const whole = aReportXml();
    const path = write('report.xml', whole.slice(0, 300));
    const { delivered } = watchIt();
    for (const hidden of ['.hidden', 'x.tmp', 'x.part', 'x~']) write(hidden, aReportXml());
    await sleep(100);
    appendFileSync(path, whole.slice(300));
    await sleep(100);
    expect(delivered).toEqual([]);
    aheadMs = 3_000;
    await until(() => list('Processed').length === 1);
    expect(delivered).toEqual([path]);
    expect(await countReports()).toBe(1);
    expect(list()).toEqual(['.hidden', 'Processed', 'x.part', 'x.tmp', 'x~']);
  });

  test('takes back a file that grows while it is read, and reads it when it is whole', async () => {
    const whole = aReportXml();
    const path = write('report.xml', whole.slice(0, 300));
    let reads = 0;
    watchIt({
      deliver: async (incoming) => {
        const bytes = (async function* () {
          yield* incoming.bytes as AsyncIterable<Uint8Array>;
        })();
        reads += 1;
        if (reads === 1) {
          const first = await bytes.next();
          appendFileSync(path, whole.slice(300));
          const rest = (async function* () {
            if (!first.done) yield first.value;
            yield* bytes;
          })();
          await createDeliver(db)({ ...incoming, bytes: rest });
        } else await createDeliver(db)({ ...incoming, bytes });
      },
    });
    await until(() => list('Processed').length === 1);
    expect(await countReports()).toBe(1);
    expect(await listMailRows(db)).toHaveLength(1);
    expect(readFileSync(join(folder, 'Processed/report.xml'), 'utf8')).toBe(whole);
  });

  test('never follows a link, and leaves what is no regular file', async () => {
    const outside = await aFolder();
    writeFileSync(join(outside, 'secret.xml'), aReportXml());
    symlinkSync(join(outside, 'secret.xml'), join(folder, 'link.xml'));
    symlinkSync(outside, join(folder, 'folder'));
    // What is to be moved must not leave the folder either.
    symlinkSync(outside, join(folder, 'Processed'));
    write('good.xml', aReportXml());
    const { delivered, warnings } = watchIt();
    await until(() => warnings.length > 0);
    expect(delivered).toEqual([join(folder, 'good.xml')]);
    // It named the file, which was read.
    expect(warnings[0]).toMatch(
      /it was read, and cannot be moved \(.*Processed is not a folder\).*DONE=leave/,
    );
    expect(readdirSync(outside)).toEqual(['secret.xml']);
    await sleep(50);
    // Once for each file.
    expect(warnings).toHaveLength(1);
  });

  test('names a file that cannot be read once, and reads the others', async () => {
    const path = write('closed.xml', aReportXml());
    const { warnings } = watchIt({
      deliver: async (incoming) => {
        if (incoming.envelope.place === path)
          throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open' });
        await createDeliver(db)(incoming);
      },
    });
    chmodSync(path, 0o000);
    write('good.xml', aReportXml());
    await until(() => list('Processed').length === 1);
    await sleep(30);
    expect(warnings).toEqual([
      `${path}: The file is left where it is: this user may not access it.`,
    ]);
    expect(list()).toContain('closed.xml');
    const states = await db.selectFrom('door_state').select('last_error').execute();
    expect(states).toEqual([
      { last_error: `${path} is left where it is: this user may not access it` },
    ]);
  });

  test('reads a file whose name is not UTF-8, and keeps the name', async () => {
    const name = Buffer.from([0x72, 0xe9, 0x2e, 0x78, 0x6d, 0x6c]);
    const inFolder = (...parts: string[]) =>
      Buffer.concat([Buffer.from(`${[folder, ...parts].join('/')}/`), name]);
    writeFileSync(inFolder(), aReportXml());
    const { warnings } = watchIt();
    await until(() => existsSync(inFolder('Processed')) && !existsSync(inFolder()));
    expect(warnings).toEqual([]);
    expect(await countReports()).toBe(1);
  });

  test('reads a file that was read again when it has another content', async () => {
    const path = write('report.xml', aReportXml('first'));
    watchIt({ done: 'leave' });
    await until(async () => (await countReports()) === 1);
    writeFileSync(path, aReportXml('second'));
    await until(async () => (await countReports()) === 2);
  });

  test('reads a file whose time is in the future when it stays the same for two seconds', async () => {
    const future = new Date('2100-01-01T00:00:00Z');
    utimesSync(write('future.xml', aReportXml()), future, future);
    watchIt();
    await until(() => list('Processed').length === 1);
  });

  test('does not move a file onto another one', async () => {
    mkdirSync(join(folder, 'Processed'));
    writeFileSync(join(folder, 'Processed/report.xml'), 'another');
    write('report.xml', aReportXml());
    watchIt();
    await until(() => list('Processed').length === 2);
    expect(list('Processed')).toEqual(['report (2).xml', 'report.xml']);
    expect(readFileSync(join(folder, 'Processed/report.xml'), 'utf8')).toBe('another');
  });

  test('reads another file with the name, the size and the time of one before', async () => {
    const at = new Date('1980-01-01T00:00:00Z');
    for (const id of ['one', 'two']) {
      utimesSync(write('report.xml', aReportXml(id)), at, at);
      const count = await countReports();
      const { door } = watchIt();
      await until(
        async () => (await countReports()) === count + 1 && !list().includes('report.xml'),
      );
      await door.stop();
    }
    expect(await countReports()).toBe(2);
  });

  test('with a hundred files is read once each while one of them grows', async () => {
    aheadMs = 0;
    const old = new Date(realNow() - 60_000);
    for (let i = 0; i < 100; i += 1) write(`${i}.xml`, aReportXml());
    utimesSync(folder, old, old);
    const growing = write('growing.mbox', '');
    const grow = setInterval(() => appendFileSync(growing, ' '), 20);
    onTestFinished(() => clearInterval(grow));
    await sleep(2_100);
    const { delivered } = watchIt();
    await until(() => list('Processed').length === 100);
    expect(delivered).toHaveLength(100);
    expect(new Set(delivered).size).toBe(100);
    expect(await countReports()).toBe(100);
    expect(list()).toContain('growing.mbox');
  });

  test('waits for the inbox when it has many files, and all are read', async () => {
    for (let i = 0; i < 700; i += 1) write(`${i}.txt`, `Hello ${i}`);
    let most = 0;
    const { delivered } = watchIt({
      done: 'leave',
      findResults: async (keys) => {
        most = Math.max(most, keys.length);
        return await findResults(db, keys);
      },
    });
    await until(async () => {
      const rows = await listMailRows(db);
      return rows.length === 700 && rows.every(({ state }) => state === 'done');
    });
    expect(new Set(delivered).size).toBe(700);
    expect(most).toBeLessThan(601);
  });

  test('says what keeps it from working, and when it works again', async () => {
    const path = join(folder, 'later');
    watchIt({ path });
    const state = () => db.selectFrom('door_state').selectAll().executeTakeFirst();
    await until(async () => (await state())?.last_error != null);
    const error = 'there is no such file or folder; make it, or correct PLUMBLINE_WATCH';
    expect((await state())?.last_error).toBe(error);
    mkdirSync(path);
    await until(async () => (await state())?.last_error === null);
    expect((await state())?.last_error_at).not.toBeNull();
  });

  test('says that the disk is full, and reads its files when there is room', async () => {
    const limit = async (pages: number) => {
      await db.write((tx) => sql.raw(`pragma max_page_count = ${pages}`).execute(tx));
    };
    await noteDoor(db, `folder:${folder}`);
    await limit(1);
    write('large.txt', randomBytes(1_000_000));
    watchIt({ done: 'leave' });
    const findFault = async () => (await listDoors(db))[0]?.fault;
    await until(async () => (await findFault()) != null);
    expect(await findFault()).toContain('database or disk is full');
    await limit(1_000_000);
    await until(async () => (await findFault()) === null && (await listMailRows(db)).length === 1);
  });

  test('logged at each try that the disk is short, and was noted to work in between', async () => {
    write('a.xml', aReportXml());
    let tries = 0;
    const noted: (string | undefined)[] = [];
    const { warnings } = watchIt({
      // Longer than a turn: not each one lists the folder.
      pollMs: 1_100,
      noteDoor: async (_door, error) => void noted.push(error),
      deliver: async () => {
        tries += 1;
        throw new Failure('unavailable', 'The disk is short.');
      },
    });
    await until(() => tries === 3);
    expect(warnings).toEqual([`${folder}: Nothing is taken from ${folder}: The disk is short.`]);
    const first = noted.findIndex((error) => error !== undefined);
    expect(new Set(noted.slice(first))).toEqual(new Set(['The disk is short']));
  }, 120_000);

  test('stops when the inbox does not store, and the files stay', async () => {
    write('a.xml', aReportXml());
    write('b.xml', aReportXml());
    let isBusy = true;
    let tries = 0;
    const { warnings } = watchIt({
      deliver: async (incoming) => {
        tries += 1;
        if (isBusy) throw Object.assign(new Error('busy'), { code: 'unavailable' });
        await createDeliver(db)(incoming);
      },
    });
    await until(() => tries >= 3);
    expect(warnings[0]).toContain('busy');
    expect(list()).toEqual(['a.xml', 'b.xml']);
    isBusy = false;
    await until(() => list('Processed').length === 2);
  });
});

describe('a Maildir', () => {
  test('has its new mails read; those with a report are seen, and other people’s stay', async () => {
    for (const part of ['new', 'cur', 'tmp']) mkdirSync(join(folder, part));
    write('tmp/1.host', aReportMail());
    write('new/2.host', aReportMail());
    write('new/3.host', mail(text('Dear colleague')));
    const { delivered } = watchIt();
    await until(() => list('cur').length === 1);
    renameSync(join(folder, 'tmp/1.host'), join(folder, 'new/1.host'));
    await until(() => list('cur').length === 2);
    await sleep(50);
    expect(list('cur')).toEqual(['1.host:2,S', '2.host:2,S']);
    expect(list('new')).toEqual(['3.host']);
    expect(delivered).toHaveLength(3);
    expect(await countReports()).toBe(2);
  });
});
