import { expect, test } from 'vitest';
import { packOriginal } from '../../src/domain/reports/original.ts';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { ingest } from '../../src/intake/ingest.ts';
import { localParser, type Parser } from '../../src/intake/parser/parser.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { PLAIN, plainWith } from '../support/intake.ts';
import { aProgram } from '../support/program.ts';
import { listMiscounts } from '../support/recount.ts';
import { zip } from '../support/zip.ts';

const RECEIVED = '2026-03-15T00:00:00Z';
const OTHER = plainWith('2026-0001', '2026-0002').replace('<count>7<', '<count>8<');
const BROKEN = PLAIN.replace('</feedback>', '');

/** An older version, whose parser rejected the whole of each input, or these parts of it. */
const olderParser = (parts: Readonly<Record<string, Uint8Array | string>> = {}): Parser => ({
  async *parse() {
    const rejected = { kind: 'rejected', refusal: new Refusal('bad_field', 'Old.') } as const;
    for (const [path, bytes] of Object.entries(parts))
      yield { ...rejected, path, member: ['x'], original: packOriginal(Buffer.from(bytes)) };
    if (Object.keys(parts).length === 0) yield { ...rejected, path: '', member: [] };
  },
});

/** The command, and a database into which an older version has read some inputs. */
async function anOldDatabase(
  texts: readonly (string | Uint8Array)[],
  parser: Parser = olderParser(),
) {
  const { database, run, json } = aProgram();
  const lines = async (...args: string[]) => {
    const { stdout, status } = await run(['document', 'reread', ...args, '--json']);
    expect(status).toBe(0);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  await json('account', 'create', 'A');
  await json('domain', 'add', 'A', 'example.com');
  /** Looks into the database while no command has it open. */
  const look = async <T>(work: (db: Store['db']) => Promise<T>): Promise<T> => {
    const store = await openStore(database);
    try {
      return await work(store.db);
    } finally {
      await store.close();
    }
  };
  await look((db) => ingestAll(db, texts, parser));
  return { database, run, json, lines, look };
}

async function ingestAll(
  db: Store['db'],
  texts: readonly (string | Uint8Array)[],
  parser: Parser,
): Promise<void> {
  async function* inputs() {
    for (const [i, text] of texts.entries())
      yield {
        name: `${i}.xml`,
        read: async () => ({ name: `${i}.xml`, bytes: Buffer.from(text) }),
      };
  }
  const given = { db, now: () => new Date(RECEIVED), parser };
  await Array.fromAsync(ingest(given, inputs()));
}

test('a rejection that today’s parser can read becomes a report, received when its input was', async () => {
  const { lines, json, look } = await anOldDatabase([PLAIN, BROKEN]);
  const [last, ...read] = (await lines('--all')).reverse();
  const [report, rejection] = read.sort((a, b) => (a.input < b.input ? -1 : 1));
  expect(report).toMatchObject({ input: '0.xml', outcome: 'stored', total_messages: 10 });
  expect(rejection).toMatchObject({ input: '1.xml', outcome: 'rejected', reason: 'bad_xml' });
  expect(last.summary).toMatchObject({ documents: 2, stored: 1, rejected: 1 });
  expect(await json('document', 'list')).toMatchObject([{ input: '1.xml', reason: 'bad_xml' }]);
  const reports = await look((db) => db.selectFrom('report').select('received_at').execute());
  expect(reports).toEqual([{ received_at: RECEIVED }]);
  expect(await look(listMiscounts)).toEqual({});
});

test('reading again what was read again counts nothing twice', async () => {
  const { lines, json, look } = await anOldDatabase([PLAIN, OTHER, BROKEN]);
  expect((await lines('--all')).at(-1).summary).toMatchObject({ documents: 3, stored: 2 });
  expect((await lines('--all')).at(-1).summary).toMatchObject({ documents: 1, rejected: 1 });
  const { id } = await look((db) => db.selectFrom('report').select('id').executeTakeFirstOrThrow());
  expect((await lines(id)).at(-1).summary).toMatchObject({ documents: 1, duplicate: 1 });
  expect(await json('document', 'list')).toHaveLength(1);
  expect(await look(listMiscounts)).toEqual({});
});

test('an input in which other documents are found now has only the rejections of today', async () => {
  const both = zip([
    { name: 'a.xml', content: PLAIN },
    { name: 'b.xml', content: BROKEN },
  ]);
  const { lines, json } = await anOldDatabase([both]);
  expect((await lines('rejection-1')).at(-1).summary).toMatchObject({ documents: 2, stored: 1 });
  expect(await json('document', 'list')).toMatchObject([{ member: 'b.xml', reason: 'bad_xml' }]);
});

test('of an input only the part is read again that was rejected, also when it has others inside', async () => {
  const both = zip([
    { name: 'a.xml', content: PLAIN },
    { name: 'b.xml', content: BROKEN },
  ]);
  const parts = { 1: OTHER, 2: both, 20: 'nothing' };
  const { lines, json, look } = await anOldDatabase(['a mail'], olderParser(parts));
  const found = await look((db) =>
    db.selectFrom('document').select(['seq', 'path']).orderBy('path').execute(),
  );
  const [of1, of2, of20] = found.map(({ seq }) => `rejection-${seq}`);
  expect(await json('document', 'list')).toHaveLength(3);
  const [a, b, last] = await lines(of2 as string);
  expect([a, b]).toMatchObject([
    { input: '0.xml', member: 'x > a.xml', outcome: 'stored' },
    { input: '0.xml', member: 'x > b.xml', outcome: 'rejected' },
  ]);
  expect(last.summary).toMatchObject({ documents: 2 });
  const [first, ...others] = await json('document', 'list');
  expect(first).toMatchObject({ member: 'x > b.xml', reason: 'bad_xml' });
  expect(new Set(others.map(({ id }: { id: string }) => id))).toEqual(new Set([of1, of20]));
  await lines('--reason', 'bad_field');
  expect(await json('document', 'list')).toMatchObject([
    { reason: 'bad_xml' },
    { id: of20, reason: 'no_report' },
  ]);
  const paths = await look((db) =>
    db
      .selectFrom('report')
      .innerJoin('document', 'document.seq', 'report.document_seq')
      .select('path')
      .orderBy('path')
      .execute(),
  );
  expect(paths).toEqual([{ path: '1' }, { path: '2.1' }]);
});

test('conflicts stay conflicts, and what stands stays', async () => {
  const forged = plainWith('<count>7</count>', '<count>2000</count>');
  const { lines, json, look } = await anOldDatabase([forged, PLAIN], localParser);
  const before = await json('document', 'list');
  expect(before).toMatchObject([{ id: 'conflict-1', outcome: 'conflict' }]);
  expect((await lines('--outcome', 'conflict')).at(-1).summary).toMatchObject({ conflict: 1 });
  expect((await lines('conflict-1')).at(-1).summary).toMatchObject({ documents: 1, conflict: 1 });
  expect(await json('document', 'list')).toEqual(before);
  expect(await look(listMiscounts)).toEqual({});
});

test('documents are chosen by reason and day', async () => {
  const { lines, run } = await anOldDatabase([PLAIN]);
  expect((await lines('--reason', 'bad_xml')).at(-1).summary).toMatchObject({ documents: 0 });
  expect((await lines('--since', '2026-03-16')).at(-1).summary).toMatchObject({ documents: 0 });
  expect((await run(['document', 'reread', '--since', '2026-03-16'])).stderr).toContain(
    'There is nothing to read again.',
  );
  const chosen = await lines('--reason', 'bad_field', '--since', '2026-03-15');
  expect(chosen.at(-1).summary).toMatchObject({ documents: 1, stored: 1 });
});

test('more inputs than one query lists are all read again', async () => {
  const texts = Array.from({ length: 205 }, (_, i) => plainWith('2026-0001', `r${i}`));
  const { lines, look } = await anOldDatabase(texts);
  expect((await lines('--outcome', 'rejected')).at(-1).summary).toMatchObject({ stored: 205 });
  expect(await look(listMiscounts)).toEqual({});
});

test('a reading that was killed can be run again: every report is stored once', async () => {
  const texts = Array.from({ length: 450 }, (_, i) => plainWith('2026-0001', `r${i}`));
  const { database, lines, look } = await anOldDatabase(texts);
  const { start } = await aCommand({ PLUMBLINE_DATABASE: database });
  const child = start('document', 'reread', '--all', '--json');
  const killed = finish(child);
  await printed(child, /stored/);
  child.kill('SIGKILL');
  await killed;
  const countReports = () => look((db) => db.selectFrom('report').select('id').execute());
  const before = (await countReports()).length;
  expect(before).toBeGreaterThan(0);
  expect((await lines('--all')).at(-1).summary).toMatchObject({ stored: 450 - before });
  expect(await countReports()).toHaveLength(450);
  expect(await look(listMiscounts)).toEqual({});
});

test('an original that was not stored to its end is said to be so, and its rejection stays', async () => {
  const large = `${PLAIN}${' '.repeat(2 * 1024 * 1024)}`;
  const { json, look, run } = await anOldDatabase([large]);
  await look((db) =>
    db.write((tx) =>
      tx
        .updateTable('document')
        .set({ content: Buffer.alloc(0) })
        .execute(),
    ),
  );
  const { status, stdout } = await run(['document', 'reread', 'rejection-1']);
  expect(status).toBe(1);
  expect(stdout).toMatch(/0\.xml +The original of this document is not complete/);
  expect(await json('document', 'list')).toHaveLength(1);
});

test.each([
  ['neither ids nor a choice', [], 2, 'Give the ids of documents, or else'],
  ['both', ['rejection-1', '--all'], 2, 'Give the ids of documents, or else'],
  ['a rejection that does not exist', ['rejection-9'], 1, 'No rejection has the number 9'],
  ['an invalid id', ['rejection-0'], 2, 'It is a report’s id'],
  [
    'a reason of conflicts',
    ['--outcome', 'conflict', '--reason', 'bad_xml'],
    2,
    'Only rejections have a reason',
  ],
] as const)('%s is an error', async (_what, args, wanted, message) => {
  const { run } = await anOldDatabase([PLAIN]);
  const { status, stderr } = await run(['document', 'reread', ...args]);
  expect([status, stderr]).toEqual([wanted, expect.stringContaining(message)]);
});
