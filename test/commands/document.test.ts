import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ingest } from '../../src/intake/ingest.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { preferConflict, removeRejection } from '../../src/store/reports/corrections.ts';
import { listDocuments } from '../../src/store/reports/document-list.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { listSources } from '../support/day-sources.ts';
import { PLAIN, plainWith } from '../support/intake.ts';
import { aProgram } from '../support/program.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';
import { aPolicy, aTlsReport } from '../support/tls-report.ts';

/** The plain report has 10 messages; the forged one has its identity and 2,003. */
const FORGED = plainWith('<count>7</count>', '<count>2000</count>');
const BROKEN = PLAIN.replace('</feedback>', '');

async function ingestAll(db: Store['db'], texts: readonly string[]): Promise<string[]> {
  const given = { db, now: () => new Date('2026-03-15T00:00:00Z'), parser: localParser };
  const toInput = (text: string, i: number) => ({
    name: `${i}.xml`,
    read: async () => ({ name: `${i}.xml`, bytes: Buffer.from(text) }),
  });
  async function* inputs() {
    yield* texts.map(toInput);
  }
  const documents = await Array.fromAsync(ingest(given, inputs()));
  return documents.map(({ outcome }) => outcome);
}

async function aForgery(...more: string[]) {
  const store = await aStore();
  await aDomain(store.db, await aBareAccount(store.db), { name: 'example.com' });
  const outcomes = await ingestAll(store.db, [FORGED, PLAIN, ...more]);
  expect(outcomes.slice(0, 2)).toEqual(['stored', 'conflict']);
  const { id } = await store.db.selectFrom('report').select('id').executeTakeFirstOrThrow();
  return { db: store.db, id };
}

const messagesOf = async (db: Store['db']) =>
  (await db.selectFrom('report').select('total_messages').execute()).map((r) => r.total_messages);

describe('correcting', () => {
  test('needs no original: what is stored with the report and its conflict suffices', async () => {
    const { db, id } = await aForgery();
    await db.write(async (tx) => {
      await tx
        .updateTable('document')
        .set({ content: Buffer.alloc(0) })
        .execute();
    });
    expect(await preferConflict(db, 1)).toMatchObject({ report: id });
    expect(await messagesOf(db)).toEqual([10]);
    expect(await listSources(db)).toMatchObject([
      { address: '192.0.2.1', messages: 7 },
      { address: '2001:db8::25', messages: 3 },
    ]);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('lists rejections and conflicts by reason and day, and removes a rejection', async () => {
    const { db } = await aForgery(BROKEN);
    const all = await listDocuments(db, { limit: 9 });
    expect(all).toMatchObject([{ id: 'conflict-1' }, { id: expect.stringMatching(/^rejection-/) }]);
    const seq = Number(all[1]?.id.slice('rejection-'.length));
    const limit = 9;
    expect(await listDocuments(db, { reason: 'bad_xml', limit })).toEqual([all[1]]);
    expect(await listDocuments(db, { outcome: 'conflict', limit })).toEqual([all[0]]);
    expect(await listDocuments(db, { since: '2026-03-16T00:00:00Z', limit })).toEqual([]);
    await removeRejection(db, seq);
    expect(await listDocuments(db, { outcome: 'rejected', limit })).toEqual([]);
    const again = removeRejection(db, seq);
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a genuine report that came second is found, compared, preferred and kept', async () => {
  const { folder, json, run } = aProgram();
  const { id: accountId } = await json('account', 'create', 'A');
  await json('domain', 'add', accountId, 'example.com');
  const [forged, genuine, broken] = ['forged', 'genuine', 'broken'].map((name) =>
    join(folder, `${name}.xml`),
  ) as [string, string, string];
  await writeFile(forged, FORGED);
  await writeFile(genuine, PLAIN);
  await writeFile(broken, BROKEN);
  const { stdout: ingested } = await run(['ingest', forged, genuine, broken]);
  expect(ingested.replace(/\s+/g, ' ')).toContain('plumbline document list --outcome conflict');

  const { stdout: list } = await run(['document', 'list']);
  expect(list).toMatch(/conflict-1 .*example\.com +- +genuine\.xml/);
  expect(list).toMatch(/rejection-\d .*broken XML +- +broken\.xml/);
  const [{ report }] = await json('document', 'list', '--outcome', 'conflict');

  const { stdout: shown } = await run(['document', 'show', 'conflict-1']);
  expect(shown).toMatch(/total_messages.*2003.*10/);
  expect(shown).toMatch(/source_1 +192\.0\.2\.1: 2000 .*192\.0\.2\.1: 7 messages/);

  const { stdout: preferred } = await run(['document', 'prefer', 'conflict-1']);
  expect(preferred).toContain(`Preferred conflict-1: report ${report} has its content now.\n`);
  expect(await json('document', 'show', report)).toMatchObject({
    total_messages: 10,
    input: genuine,
    conflicts: 'conflict-1',
  });
  const { stdout: removed } = await run(['document', 'remove', 'conflict-1']);
  expect(removed).toMatch(/^Removed conflict-1\.\n/);
  const { stdout: again } = await run(['ingest', forged, genuine]);
  expect(again).toMatch(/duplicate.*1/);
  expect(again).toMatch(/removed.*1/);
});

/** A report of a past day. */
function about(daysAgo: number, passing: number, failing: number): string {
  const begin = (Math.floor(Date.now() / 86_400_000) - daysAgo) * 86_400;
  return PLAIN.replace('2026-0001', `about ${begin}`)
    .replace('1767225600', `${begin}`)
    .replace('1767311999', `${begin + 86_399}`)
    .replace('<count>7</count>', `<count>${passing}</count>`)
    .replace('<count>3</count>', `<count>${failing}</count>`);
}

test('a report that is removed says which conflict takes its place; JSON is one value', async () => {
  const { folder, json, run } = aProgram();
  const { id: accountId } = await json('account', 'create', 'A');
  await json('domain', 'add', accountId, 'example.com');
  const paths = ['forged.xml', 'genuine.xml'].map((name) => join(folder, name));
  for (const [i, text] of [FORGED, PLAIN].entries()) await writeFile(paths[i] as string, text);
  await run(['ingest', ...paths]);
  const [{ report }] = await json('document', 'list', '--outcome', 'conflict');
  const { stdout } = await run(['document', 'remove', report]);
  expect(stdout).toContain(
    `Removed report ${report}. The content of conflict-1 takes its place.\n`,
  );
  expect(await json('document', 'remove', report)).toMatchObject({ replaced_by: null });
});

test('an alert that a forged report fired is resolved when the genuine one is preferred', async () => {
  const { folder, json, run } = aProgram();
  const { id: accountId } = await json('account', 'create', 'A');
  await json('domain', 'add', accountId, 'example.com');
  const honest = [9, 8, 7, 6, 5, 4, 3].map((daysAgo) => about(daysAgo, 990, 10));
  const files = [...honest, about(2, 100, 900), about(2, 990, 10)].map((text, i) => {
    return { path: join(folder, `${i}.xml`), text };
  });
  for (const { path, text } of files) await writeFile(path, text);
  await run(['ingest', ...files.map(({ path }) => path)]);
  const open = async () =>
    (await json('alerts', 'list', accountId)).map((alert: { resolved_at: string | null }) => {
      return alert.resolved_at === null;
    });
  expect(await open()).toEqual([true]);
  expect(await json('document', 'prefer', 'conflict-1')).toMatchObject({ fired: 0, resolved: 1 });
  expect(await open()).toEqual([false]);
});

test('contents of a TLS report are shown with their policies', async () => {
  const { folder, run, json } = aProgram();
  const [one, other] = [join(folder, 'one.json'), join(folder, 'other.json')];
  await writeFile(one, aTlsReport());
  await writeFile(other, aTlsReport({ policies: [aPolicy({ 'failure-details': [] })] }));
  const { stdout: ingested } = await run(['ingest', one, other, '--json']);
  const [first, second] = ingested.split('\n').map((line) => line && JSON.parse(line));
  const sessions = { successful_sessions: 12, failed_sessions: 1, total_messages: null };
  expect(first).toMatchObject({ outcome: 'unclaimed', domain: 'example.com', ...sessions });
  expect(second).toMatchObject({ outcome: 'conflict', ...sessions });
  const { stdout } = await run(['document', 'show', 'conflict-1']);
  expect(stdout).toMatch(
    /sts example\.com testing: 12 sessions, and 1 failed \(certificate-expired\)/,
  );
  expect(stdout).toMatch(/^failed_sessions +1 +1$/m);
  const [{ report }] = await json('document', 'list', '--outcome', 'conflict');
  expect(await json('document', 'show', report)).toMatchObject({
    ...{ id: report, kind: 'tls', successful_sessions: 12, conflicts: 'conflict-1' },
  });
});

test('an original is written byte for byte, and never to a terminal', async () => {
  const { folder, run } = aProgram();
  const path = join(folder, 'plain.xml');
  await writeFile(path, BROKEN);
  await run(['ingest', path]);
  const { isTTY } = process.stdout;
  onTestFinished(() => void Object.assign(process.stdout, { isTTY }));
  process.stdout.isTTY = false;
  expect((await run(['document', 'show', 'rejection-1', '--original'])).stdout).toBe(BROKEN);
  process.stdout.isTTY = true;
  const { status, stdout } = await run(['document', 'show', 'rejection-1', '--original']);
  expect([status, stdout]).toEqual([1, '']);
});

test.each([
  ['an invalid id', ['show', 'conflict-0'], 2, 'It is a report’s id'],
  ['a rejection where a conflict is required', ['prefer', 'rejection-1'], 2, 'conflict-<number>'],
  ['a document that does not exist', ['show', 'rejection-7'], 1, 'No rejection has the number 7'],
  [
    'a reason of conflicts',
    ['list', '--outcome', 'conflict', '--reason', 'bad_xml'],
    2,
    'Only rejections have a reason',
  ],
  ['an unknown reason', ['list', '--reason', 'x'], 2, 'bad_xml, doctype_forbidden'],
  ['an invalid day', ['list', '--since', '2026-02-3'], 2, 'such as 2026-03-15'],
] as const)('%s is rejected', async (_what, args, wanted, message) => {
  const { run, json } = aProgram();
  await json('account', 'create', 'A');
  const { status, stderr } = await run(['document', ...args]);
  expect([status, stderr]).toEqual([wanted, expect.stringContaining(message)]);
});
