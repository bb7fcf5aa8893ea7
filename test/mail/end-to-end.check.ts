import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { findCheckpoint } from '../../src/store/inbox/doors.ts';
import { putBrake } from '../support/brake.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { startPostgres } from '../support/postgres.ts';
import { aDatabasePath } from '../support/store.ts';
import {
  expectFolder,
  expectKeyedRows,
  expectMailbox,
  expectMaildir,
  expectReports,
  expectSmtpRows,
  listRows,
} from './accounted.ts';
import { aDovecot, optionsOf, type TestDovecot } from './dovecot.ts';
import { KilledProcess } from './killed-process.ts';
import { SmtpSenders } from './smtp-senders.ts';
import { COUNTS, FOLDER_COUNTS, MAILS, POSTGRES_KILLS, ROUNDS, toMails } from './trial-mails.ts';

const ADDRESS = 'dmarc@mx.plumbline.example';
/** Files are not read before they are two seconds old, so they are written some rounds before they are needed. */
const ROUNDS_AHEAD = 4;
/** It takes a minute or two; a machine with much other work needs many times as long. */
const MAX_MS = 900_000;
const PATIENT = { timeout: 600_000, interval: 200 };

async function onPostgres(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(server.stop);
  return server.toUrl('postgres');
}

test.each([
  { engine: 'SQLite', make: aDatabasePath, kills: ROUNDS },
  { engine: 'PostgreSQL', make: onPostgres, kills: POSTGRES_KILLS },
])(
  `$engine: ${ROUNDS * MAILS} mails by SMTP, and as many by IMAP, in a folder and in a Maildir are each accounted for, and each report is stored once, while the process is killed $kills times, the store refuses mails, and the IMAP server restarts`,
  async ({ engine, make, kills }) => {
    const startedAt = performance.now();
    const trial = await begin(engine, await make());
    const { db, imap, killed, senders, watched } = trial;
    let interrupted = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await addMails(trial, round);
      const kill = Math.floor((round * kills) / ROUNDS);
      if (Math.floor(((round + 1) * kills) / ROUNDS) > kill)
        interrupted += await killOnce(trial, kill);
    }
    const beforeLast = await countDone(db);
    await killed.begin();
    senders.open();
    await senders.end();
    await expect.poll(() => imap.count(), PATIENT).toBe(COUNTS.ignored);
    await expect.poll(() => countFiles(watched.folder), PATIENT).toBe(0);
    await expect.poll(() => countFiles(join(watched.maildir, 'new')), PATIENT).toBe(COUNTS.ignored);
    await expect.poll(() => countUnread(db), PATIENT).toBe(0);
    await killed.kill();

    const rows = await listRows(db);
    const { refused, lost } = senders;
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const figures = {
      engine,
      kills,
      rows: rows.length,
      beforeLast,
      interrupted,
      refused,
      lost,
      seconds,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    expect(refused).toBeGreaterThan(0);
    expect(interrupted).toBeGreaterThan(0);
    expectSmtpRows(rows, senders);
    expectKeyedRows(rows, 'imap');
    expectKeyedRows(rows, `folder:${watched.folder}`, FOLDER_COUNTS);
    expectKeyedRows(rows, `folder:${watched.maildir}`);
    await expectMailbox(imap);
    await expectFolder(watched.folder);
    await expectMaildir(watched.maildir);
    await expectReports(db);
  },
  MAX_MS,
);

interface Trial {
  readonly db: Db;
  readonly isPostgres: boolean;
  readonly imap: TestDovecot;
  readonly watched: Watched;
  readonly killed: KilledProcess;
  readonly senders: SmtpSenders;
}

/** Paths. */
type Watched = Readonly<Record<'folder' | 'maildir', string>>;

async function begin(engine: string, database: string): Promise<Trial> {
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const { db } = store;
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const [imap, own] = [await aDovecot(), await aFolder()];
  const watched = await makeWatched(own);
  const smtp = { port: await findFreePort(), address: ADDRESS };
  const { imap: port } = imap.ports;
  const limits = { firstRetryMs: 20, maxRetryMs: 200, resultsMs: 50 };
  const options = optionsOf(imap, { port, security: 'none', limits });
  const killed = new KilledProcess(
    { database, smtp, watched: Object.values(watched), imap: options },
    join(own, 'cache'),
  );
  const senders = new SmtpSenders(smtp);
  for (let round = 0; round < ROUNDS_AHEAD; round += 1) await writeFiles(watched, round);
  return { db, isPostgres: engine !== 'SQLite', imap, watched, killed, senders };
}

async function makeWatched(own: string): Promise<Watched> {
  const [folder, maildir] = [join(own, 'folder'), join(own, 'maildir')];
  for (const name of ['', 'new', 'cur', 'tmp']) await mkdir(join(maildir, name));
  await mkdir(folder);
  return { folder, maildir };
}

async function addMails({ imap, senders, watched }: Trial, round: number): Promise<void> {
  await imap.add(toMails('imap', round).map(({ bytes }) => bytes));
  for (const { id, bytes } of toMails('smtp', round)) senders.send(toSender(id), bytes);
  if (round + ROUNDS_AHEAD < ROUNDS) await writeFiles(watched, round + ROUNDS_AHEAD);
}

async function writeFiles({ folder, maildir }: Watched, round: number): Promise<void> {
  for (const { id, bytes } of toMails('folder', round))
    await writeFile(join(folder, `${id}.eml`), bytes);
  for (const { id, bytes } of toMails('maildir', round)) {
    await writeFile(join(maildir, 'tmp', id), bytes);
    await rename(join(maildir, 'tmp', id), join(maildir, 'new', id));
  }
}

const toSender = (id: string) => `${id}@reporter.example`;

/**
 * The process begins, does something and is killed. At some kills the store refuses, or the IMAP server restarts. Returns how
 * many mails it was reading.
 */
async function killOnce({ db, isPostgres, ...trial }: Trial, kill: number): Promise<number> {
  const { imap, killed, senders } = trial;
  // By one door, and the next time by another one.
  const reads = [
    () => senders.answers,
    () => findCheckpoint(db, 'imap'),
    () => countByFolder(db),
  ] as const;
  const read = reads[kill % reads.length] ?? reads[0];
  const before = await read();
  const braked = { table: 'inbox_part', at: 'insert' } as const;
  const unbrake = kill % 10 === 4 ? await putBrake(db, braked, isPostgres) : undefined;
  await killed.begin();
  senders.open();
  await untilOther(read, before);
  await sleep(Math.random() * 300);
  if (kill % 10 === 7) await restart(imap);
  await killed.kill();
  senders.close();
  await unbrake?.();
  return await countMails(db, 'claimed_by', '!=', '');
}

/** A process that is killed before it does anything shows little. It may have nothing to do, so the wait is bounded. */
async function untilOther(read: () => unknown, before: unknown): Promise<void> {
  for (let tries = 0; tries < 500 && (await read()) === before; tries += 1) await sleep(20);
}

async function restart(imap: TestDovecot): Promise<void> {
  await imap.stop();
  await imap.resume();
}

const countByFolder = (db: Db) => countMails(db, 'door', 'like', 'folder:%');
const countDone = (db: Db) => countMails(db, 'state', '=', 'done');
const countUnread = (db: Db) => countMails(db, 'state', '!=', 'done');

async function countMails(
  db: Db,
  column: 'door' | 'state' | 'claimed_by',
  is: '=' | '!=' | 'like',
  value: string,
): Promise<number> {
  const { mails } = await db
    .selectFrom('inbox_mail')
    .select((eb) => eb.fn.countAll().as('mails'))
    .where(column, is, value as 'done')
    .executeTakeFirstOrThrow();
  return Number(mails);
}

/** Files that were not moved yet. */
async function countFiles(folder: string): Promise<number> {
  return (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile()).length;
}
