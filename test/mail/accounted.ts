/** That every mail of the trial is where it has to be, and every report is stored once. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseEnvelope } from '../../src/domain/incoming.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { listMiscounts } from '../support/recount.ts';
import type { TestDovecot } from './dovecot.ts';
import type { SmtpSenders } from './smtp-senders.ts';
import { COUNTS, DOORS, type Door, type Kind, MAILS, ROUNDS, toAllMails } from './trial-mails.ts';

export async function listRows(db: Db) {
  const columns = ['door', 'state', 'result', 'envelope', 'tries'] as const;
  return await db.selectFrom('inbox_mail').select(columns).execute();
}

type Rows = Awaited<ReturnType<typeof listRows>>;

const toResult = (row: Rows[number] | undefined) => row?.result ?? null;

function countKinds(results: readonly (string | null)[]): Record<Kind, number> {
  const count = (kind: Kind) => results.filter((result) => result === kind).length;
  return { processed: count('processed'), rejected: count('rejected'), ignored: count('ignored') };
}

/** A client that does not hear the 250 sends again, so a mail may be there as often as it was sent. */
export function expectSmtpRows(rows: Rows, { tries }: SmtpSenders): void {
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

/** The inbox knows a mail of a mailbox by its UID, and a file by its state: each has one row. */
export function expectKeyedRows(
  rows: Rows,
  name: 'imap' | `folder:${string}`,
  wanted: Record<Kind, number> = COUNTS,
): void {
  const results = rows.filter(({ door }) => door === name).map(toResult);
  expect(countKinds(results)).toEqual(wanted);
  expect(results).toHaveLength(ROUNDS * MAILS);
}

/** A move that is cut off may leave a copy, so the mails of a folder are counted by what is in them. */
export async function expectMailbox(imap: TestDovecot): Promise<void> {
  for (const [folder, kind] of Object.entries({
    '.Processed': 'processed',
    '.Rejected': 'rejected',
    '': 'ignored',
  } as const)) {
    const found = new Set(await readTexts(await imap.list(folder)));
    expect(found).toEqual(new Set(toTexts('imap', [kind])));
  }
  expect(await imap.count('', 'S')).toBe(0);
}

/** A file is renamed, which leaves no copy. Everything in a folder that is watched is meant for Plumbline. */
export async function expectFolder(folder: string): Promise<void> {
  expect((await readdir(folder)).sort()).toEqual(['Processed', 'Rejected']);
  for (const [name, kinds] of Object.entries({
    Processed: ['processed'],
    Rejected: ['rejected', 'ignored'],
  } as const)) {
    expect(await readMoved(join(folder, name))).toEqual(toTexts('folder', kinds).sort());
  }
}

/** Mails with a report are in `cur`. Those of other people stay in `new`. */
export async function expectMaildir(maildir: string): Promise<void> {
  for (const [name, kinds] of Object.entries({
    cur: ['processed', 'rejected'],
    new: ['ignored'],
  } as const)) {
    expect(await readMoved(join(maildir, name))).toEqual(toTexts('maildir', kinds).sort());
  }
}

async function readMoved(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const texts = await readTexts(names.map((name) => join(folder, name)));
  return texts.sort();
}

const readTexts = (paths: readonly string[]): Promise<string[]> =>
  Promise.all(paths.map(async (path) => toText(await readFile(path))));

const toTexts = (door: Door, kinds: readonly Kind[]): string[] =>
  toAllMails(door)
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ bytes }) => toText(bytes));

/** Dovecot may write a mail that it copies with other line ends. */
const toText = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r\n', '\n');

/** Each report once, no other report, and all counts of them are right. */
export async function expectReports(db: Db): Promise<void> {
  const reports = await db.selectFrom('report').select('report_id').execute();
  const wanted = DOORS.flatMap(toAllMails).filter(({ kind }) => kind === 'processed');
  expect(reports.map(({ report_id }) => report_id).sort()).toEqual(
    wanted.map(({ id }) => id).sort(),
  );
  expect(await listMiscounts(db)).toEqual({});
}
