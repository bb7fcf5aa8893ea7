import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findPort } from '../../scripts/dovecot/dovecot.ts';
import type { Db } from '../../src/store/connection/database.ts';
import { openStore } from '../../src/store/connection/open.ts';
import { findCheckpoint } from '../../src/store/inbox/doors.ts';
import { parseEnvelope } from '../../src/store/inbox/envelope.ts';
import { putBrake } from '../support/brake.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aReportMail, aReportXml } from '../support/inbox.ts';
import { base64, mail, text } from '../support/mail.ts';
import { startPostgres } from '../support/postgres.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabasePath } from '../support/store.ts';
import { aDovecot, optionsOf, type TestDovecot } from './dovecot.ts';
import { KilledProcess } from './killed-process.ts';
import { SmtpSenders } from './smtp-senders.ts';

const ROUNDS = 100;
/** By each door in each round. */
const MAILS = 20;
const ADDRESS = 'dmarc@mx.plumbline.example';
/** It takes a minute or two; a machine with much other work needs many times as long. */
const MAX_MS = 900_000;
const PATIENT = { timeout: 600_000, interval: 200 };

/** Of 20 mails, 18 have a report, one has a broken report, and one is none of Plumbline's business. */
const KINDS = ['processed', 'rejected', 'ignored'] as const;
type Kind = (typeof KINDS)[number];
const COUNTS = { processed: 18 * ROUNDS, rejected: ROUNDS, ignored: ROUNDS };

interface TestMail {
  readonly id: string;
  readonly kind: Kind;
  readonly bytes: Buffer;
}

function toMails(door: string, round: number): TestMail[] {
  return Array.from({ length: MAILS }, (_, i) => {
    const [id, kind] = [`${door}-${round}-${i}`, KINDS[Math.max(0, i - MAILS + 3)] as Kind];
    if (kind === 'processed') return { id, kind, bytes: aReportMail(id) };
    const part = kind === 'rejected' ? base64(aReportXml(id).slice(0, -20)) : text(`Hello ${id}.`);
    return { id, kind, bytes: mail({ ...part, headers: [...part.headers, `X-Id: ${id}`] }) };
  });
}

async function onPostgres(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(server.stop);
  return server.toUrl('postgres');
}

test.each([
  { engine: 'SQLite', make: aDatabasePath, kills: 100 },
  { engine: 'PostgreSQL', make: onPostgres, kills: 25 },
])(
  `$engine: ${ROUNDS * MAILS} mails by SMTP and as many by IMAP are each accounted for, and each report is stored once, while the process is killed $kills times, the store refuses mails, and the IMAP server restarts`,
  async ({ engine, make, kills }) => {
    const startedAt = performance.now();
    const database = await make();
    const store = await openStore(database);
    onTestFinished(() => store.close());
    const { db } = store;
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    const imap = await aDovecot();
    const smtp = { port: await findPort(), address: ADDRESS };
    const { imap: port } = imap.ports;
    const limits = { firstRetryMs: 20, maxRetryMs: 200, resultsMs: 50, maxResultsMs: 200 };
    const options = optionsOf(imap, { port, security: 'none', limits });
    const killed = new KilledProcess({ database, smtp, imap: options }, await aFolder());
    const senders = new SmtpSenders(smtp);

    const trial = { db, isPostgres: engine !== 'SQLite', imap, killed, senders };
    for (let round = 0; round < ROUNDS; round += 1) {
      await imap.add(toMails('imap', round).map(({ bytes }) => bytes));
      for (const { id, bytes } of toMails('smtp', round)) senders.send(toSender(id), bytes);
      if ((round + 1) % (ROUNDS / kills) !== 0) continue;
      const kill = Math.floor((round * kills) / ROUNDS);
      await killOnce(trial, kill);
    }
    await killed.begin();
    senders.open();
    await senders.end();
    await expect.poll(() => imap.count(), PATIENT).toBe(COUNTS.ignored);
    await expect.poll(() => countUnread(db), PATIENT).toBe(0);
    await killed.kill();

    const rows = await listRows(db);
    const again = rows.filter(({ tries }) => tries > 1).length;
    const { refused, lost } = senders;
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const figures = { engine, kills, rows: rows.length, again, refused, lost, seconds };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    expect(refused).toBeGreaterThan(0);
    expect(again).toBeGreaterThan(0);
    expectSmtp(rows, senders);
    expectImapRows(rows);
    await expectMailbox(imap);
    await expectReports(db);
  },
  MAX_MS,
);

interface Trial {
  readonly db: Db;
  readonly isPostgres: boolean;
  readonly imap: TestDovecot;
  readonly killed: KilledProcess;
  readonly senders: SmtpSenders;
}

/** The process begins, does something and is killed. At some kills the store refuses, or the IMAP server restarts. */
async function killOnce({ db, isPostgres, ...trial }: Trial, kill: number): Promise<void> {
  const { imap, killed, senders } = trial;
  // By SMTP, and the next time by IMAP.
  const read = kill % 2 === 0 ? () => senders.answers : () => findCheckpoint(db, 'imap');
  const before = await read();
  const braked = { table: 'inbox_part', at: 'insert' } as const;
  const unbrake = kill % 10 === 4 ? await putBrake(db, braked, isPostgres) : undefined;
  await killed.begin();
  senders.open();
  await untilOther(read, before);
  await sleep(Math.random() * 300);
  if (kill % 25 === 12) await restart(imap);
  await killed.kill();
  senders.close();
  await unbrake?.();
}

/** A process that is killed before it does anything shows little. It may have nothing to do, so the wait is bounded. */
async function untilOther(read: () => unknown, before: unknown): Promise<void> {
  for (let tries = 0; tries < 500 && (await read()) === before; tries += 1) await sleep(20);
}

const toSender = (id: string) => `${id}@reporter.example`;

async function restart(imap: TestDovecot): Promise<void> {
  await imap.stop();
  await imap.resume();
}

async function countUnread(db: Db): Promise<number> {
  return (await listRows(db)).filter(({ state }) => state !== 'done').length;
}

async function listRows(db: Db) {
  const columns = ['door', 'state', 'result', 'envelope', 'tries'] as const;
  return await db.selectFrom('inbox_mail').select(columns).execute();
}

type Rows = Awaited<ReturnType<typeof listRows>>;

function countKinds(results: readonly (string | null)[]): Record<Kind, number> {
  const count = (kind: Kind) => results.filter((result) => result === kind).length;
  return { processed: count('processed'), rejected: count('rejected'), ignored: count('ignored') };
}

/** A client that does not hear the 250 sends again, so a mail may be there as often as it was sent. */
function expectSmtp(rows: Rows, { tries }: SmtpSenders): void {
  const bySender = Map.groupBy(
    rows.filter(({ door }) => door === 'smtp'),
    ({ envelope }) => parseEnvelope(envelope).sender ?? '',
  );
  expect([...bySender.keys()].sort()).toEqual([...tries.keys()].sort());
  const tooMany = [...bySender].filter(([from, all]) => all.length > (tries.get(from) ?? 0));
  expect(tooMany).toEqual([]);
  const mixed = [...bySender].filter(([, all]) => new Set(all.map(toResult)).size > 1);
  expect(mixed).toEqual([]);
  expect(countKinds([...bySender.values()].map(([first]) => toResult(first)))).toEqual(COUNTS);
}

const toResult = (row: Rows[number] | undefined) => row?.result ?? null;

/** The inbox knows a mail of the mailbox by its UID. */
function expectImapRows(rows: Rows): void {
  const results = rows.filter(({ door }) => door === 'imap').map(toResult);
  expect(countKinds(results)).toEqual(COUNTS);
  expect(results).toHaveLength(ROUNDS * MAILS);
}

/** A move that is cut off may leave a copy, so the mails of a folder are counted by what is in them. */
async function expectMailbox(imap: TestDovecot): Promise<void> {
  const wanted = Array.from({ length: ROUNDS }, (_, round) => toMails('imap', round)).flat();
  for (const [folder, kind] of Object.entries({
    '.Processed': 'processed',
    '.Rejected': 'rejected',
    '': 'ignored',
  })) {
    const paths = await imap.list(folder);
    const found = new Set(
      await Promise.all(paths.map(async (path) => toText(await readFile(path)))),
    );
    const expected = wanted.filter((one) => one.kind === kind);
    expect(found).toEqual(new Set(expected.map(({ bytes }) => toText(bytes))));
  }
  expect(await imap.count('', 'S')).toBe(0);
}

/** Dovecot may write a mail that it copies with other line ends. */
const toText = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r\n', '\n');

async function expectReports(db: Db): Promise<void> {
  const reports = await db.selectFrom('report').select('report_id').execute();
  const ids = new Set(reports.map(({ report_id }) => report_id));
  expect([reports.length, ids.size]).toEqual([2 * COUNTS.processed, 2 * COUNTS.processed]);
  expect(await listMiscounts(db)).toEqual({});
}
