import { chownSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aCommand, aFolder, finish, printed } from '../support/command.ts';
import { aDisk } from '../support/disk.ts';
import { aReportMail } from '../support/inbox.ts';
import { startPostgres } from '../support/postgres.ts';
import { SERVER_USER } from '../support/postgres-binaries.ts';

const PATIENT = { timeout: 200_000, interval: 500 };
const ADDRESS = 'dmarc@mx.plumbline.example';
const MAILS = 10;
const DISK_MB = 48;
/** Smaller than the least that a file of the database grows by. */
const FILLING = Buffer.alloc(4096);

test.each([
  {
    engine: 'SQLite',
    make: onDisk,
    says: /the database cannot be written: database or disk is full/g,
    ready: { status: 'unavailable' },
  },
  {
    engine: 'PostgreSQL',
    make: inTablespace,
    says: /cannot grow: its disk is full/g,
    // A page that has room is written, and its log is on another disk.
    ready: { status: 'ready', failing_doors: ['folder', 'smtp'] },
  },
])(
  '$engine: while the disk is full both doors say so and the API answers; afterwards every mail is stored, once',
  async ({ make, says, ready }) => {
    const disk = await aDisk(DISK_MB);
    const database = await make(disk);
    const maildir = await aMaildir();
    const smtpPort = await findFreePort();
    const command = await aCommand({
      PLUMBLINE_DATABASE: database,
      // Without a reserve, the file system itself refuses.
      PLUMBLINE_MIN_FREE_MB: '0',
      PLUMBLINE_SMTP_PORT: String(smtpPort),
      PLUMBLINE_SMTP_HOST: '127.0.0.1',
      PLUMBLINE_SMTP_NAME: 'mx.plumbline.example',
      PLUMBLINE_REPORT_ADDRESS: ADDRESS,
      PLUMBLINE_WATCH: maildir,
      PLUMBLINE_LOG_LEVEL: 'warn',
    });
    await command.json('account', 'create', 'A');
    await command.json('domain', 'add', 'A', 'example.com');
    const server = command.start('serve');
    onTestFinished(() => void server.kill('SIGKILL'));
    const ended = finish(server);
    const [, url] = /listens on (\S+)/.exec(await printed(server, /listens on \S+/)) ?? [];
    const ask = async (path: string) => await (await fetch(`${url}${path}`)).json();
    const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true });
    const send = (number: number) =>
      transport
        .sendMail({
          envelope: { from: 'noreply@reporter.example', to: [ADDRESS] },
          raw: aReportMail(`smtp-${number}`),
        })
        .then(
          () => 250,
          ({ responseCode }: { responseCode?: number }) => responseCode,
        );
    const numbers = Array.from({ length: MAILS }, (_, i) => i);
    await expect.poll(() => send(-1), PATIENT).toBe(250);
    const store = await openStore(database, { mustExist: true });
    onTestFinished(store.close);
    const listIds = async () => {
      const reports = await store.db.selectFrom('report').select('report_id').execute();
      return reports.map(({ report_id }) => report_id).sort();
    };
    // The claim of a mail that is being read when the disk fills lasts two minutes.
    await expect.poll(listIds, PATIENT).toEqual(['smtp--1']);

    const filling = join(disk, 'filling');
    await fill(filling);
    // What a table still has room for is stored.
    await expect.poll(() => send(0), PATIENT).toBe(451);
    for (const number of numbers) expect(await send(number)).toBe(451);
    for (const number of numbers) await deliver(maildir, number);
    await expect.poll(() => ask('/readyz'), PATIENT).toMatchObject(ready);
    expect(await ask('/healthz')).toEqual({ status: 'ok' });
    // A door may have another reason before: that the database did not answer.
    const look = () => command.run(['inbox', 'doors']);
    await expect.poll(async () => (await look()).stdout.match(says)?.length, PATIENT).toBe(2);
    expect((await look()).status).toBe(1);
    expect(await readdir(join(maildir, 'new'))).toHaveLength(MAILS);

    await rm(filling);
    for (const number of numbers) await expect.poll(() => send(number), PATIENT).toBe(250);
    await expect.poll(() => readdir(join(maildir, 'cur')), PATIENT).toHaveLength(MAILS);
    const wanted = [
      'smtp--1',
      ...numbers.flatMap((number) => [`file-${number}`, `smtp-${number}`]),
    ];
    await expect.poll(listIds, PATIENT).toEqual(wanted.sort());
    await expect.poll(() => ask('/readyz'), PATIENT).toEqual({ status: 'ready' });
    expect((await command.run(['inbox', 'doors'])).status).toBe(0);
    server.kill('SIGTERM');
    expect((await ended).status).toBe(0);
  },
);

async function onDisk(disk: string): Promise<string> {
  return join(disk, 'plumbline.db');
}

/** The tables of a database; its server and its log have room. */
async function inTablespace(disk: string): Promise<string> {
  const server = await startPostgres();
  onTestFinished(server.stop);
  const { uid, gid } = SERVER_USER;
  if (uid !== undefined) chownSync(disk, uid, gid as number);
  const client = new pg.Client(server.toUrl('postgres'));
  await client.connect();
  await client.query(`create tablespace small location '${disk}'`);
  await client.query('create database small tablespace small');
  await client.end();
  return server.toUrl('small');
}

async function aMaildir(): Promise<string> {
  const maildir = await aFolder();
  for (const name of ['new', 'cur', 'tmp']) await mkdir(join(maildir, name));
  return maildir;
}

async function deliver(maildir: string, number: number): Promise<void> {
  const path = join(maildir, 'tmp', `${number}`);
  await writeFile(path, aReportMail(`file-${number}`));
  await rename(path, join(maildir, 'new', `${number}`));
}

/** Until the file system has no room for another page. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  const write = () =>
    file.write(FILLING).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => code !== 'ENOSPC',
    );
  while (await write());
  await file.close();
}
