import { mkdir, readdir, writeFile } from 'node:fs/promises';
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
  expectReports,
  expectSmtpRows,
  listRows,
} from './accounted.ts';
import { aDovecot, optionsOf, type TestDovecot } from './dovecot.ts';
import { KilledProcess } from './killed-process.ts';
import { SmtpSenders } from './smtp-senders.ts';
import { COUNTS, MAILS, ROUNDS, toMails } from './trial-mails.ts';

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
  { engine: 'PostgreSQL', make: onPostgres, kills: ROUNDS / 4 },
])(
  `$engine: ${ROUNDS * MAILS} mails by SMTP, as many by IMAP and as many in a folder are each accounted for, and each report is stored once, while the process is killed $kills times, the store refuses mails, and the IMAP server restarts`,
  async ({ engine, make, kills }) => {
    const startedAt = performance.now();
    const trial = await begin(engine, await make());
    const { db, imap, killed, senders, folder } = trial;
    for (let round = 0; round < ROUNDS; round += 1) {
      await addMails(trial, round);
      if ((round + 1) % (ROUNDS / kills) !== 0) continue;
      await killOnce(trial, Math.floor((round * kills) / ROUNDS));
    }
    const beforeLast = await countDone(db);
    await killed.begin();
    senders.open();
    await senders.end();
    await expect.poll(() => imap.count(), PATIENT).toBe(COUNTS.ignored);
    await expect.poll(() => countFiles(folder), PATIENT).toBe(0);
    await expect.poll(() => countUnread(db), PATIENT).toBe(0);
    await killed.kill();

    const rows = await listRows(db);
    const again = rows.filter(({ tries }) => tries > 1).length;
    const { refused, lost } = senders;
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const figures = { engine, kills, rows: rows.length, beforeLast, again, refused, lost, seconds };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    expect(refused).toBeGreaterThan(0);
    expect(again).toBeGreaterThan(0);
    expectSmtpRows(rows, senders);
    expectKeyedRows(rows, 'imap');
    expectKeyedRows(rows, 'folder');
    await expectMailbox(imap);
    await expectFolder(folder);
    await expectReports(db);
  },
  MAX_MS,
);

interface Trial {
  readonly db: Db;
  readonly isPostgres: boolean;
  readonly imap: TestDovecot;
  /** The folder that is watched. */
  readonly folder: string;
  readonly killed: KilledProcess;
  readonly senders: SmtpSenders;
}

async function begin(engine: string, database: string): Promise<Trial> {
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const { db } = store;
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const [imap, own] = [await aDovecot(), await aFolder()];
  const [folder, cache] = [join(own, 'watched'), join(own, 'cache')];
  await mkdir(folder);
  const smtp = { port: await findFreePort(), address: ADDRESS };
  const { imap: port } = imap.ports;
  const limits = { firstRetryMs: 20, maxRetryMs: 200, resultsMs: 50 };
  const options = optionsOf(imap, { port, security: 'none', limits });
  const killed = new KilledProcess({ database, smtp, folder, imap: options }, cache);
  const senders = new SmtpSenders(smtp);
  for (let round = 0; round < ROUNDS_AHEAD; round += 1) await writeFiles(folder, round);
  return { db, isPostgres: engine !== 'SQLite', imap, folder, killed, senders };
}

async function addMails({ imap, senders, folder }: Trial, round: number): Promise<void> {
  await imap.add(toMails('imap', round).map(({ bytes }) => bytes));
  for (const { id, bytes } of toMails('smtp', round)) senders.send(toSender(id), bytes);
  if (round + ROUNDS_AHEAD < ROUNDS) await writeFiles(folder, round + ROUNDS_AHEAD);
}

async function writeFiles(folder: string, round: number): Promise<void> {
  for (const { id, bytes } of toMails('folder', round))
    await writeFile(join(folder, `${id}.eml`), bytes);
}

const toSender = (id: string) => `${id}@reporter.example`;

/** The process begins, does something and is killed. At some kills the store refuses, or the IMAP server restarts. */
async function killOnce({ db, isPostgres, ...trial }: Trial, kill: number): Promise<void> {
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
  column: 'door' | 'state',
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
  return (await readdir(folder)).filter((name) => name.endsWith('.eml')).length;
}
