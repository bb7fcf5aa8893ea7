import { describe, expect, test } from 'vitest';
import { listDocuments } from '../../src/store/reports/document-list.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';
import { PLAIN, plainWith } from '../support/intake.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';

const RECORD = /<record>.*?<\/record>/gs;
const [FIRST = '', SECOND = ''] = PLAIN.match(RECORD) ?? [];

async function outcomesOf(...inputs: readonly string[]) {
  const { db } = await aStore();
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const outcomes: string[] = [];
  for (const [i, input] of inputs.entries())
    for (const { outcome } of await takeIn({ db }, input, { name: `${i}.xml` }))
      outcomes.push(outcome);
  expect(await listMiscounts(db)).toEqual({});
  return { db, outcomes };
}

describe('the same report in other bytes is a duplicate', () => {
  test.each([
    ['with other line ends', PLAIN.replaceAll('\n', '\r\n')],
    ['on one line', PLAIN.replace(/>\s+</g, '><')],
    [
      'with its records in another order',
      PLAIN.replace(FIRST, SECOND).replace(/(?<=<record>.*)<record>.*<\/record>/s, FIRST),
    ],
    [
      'with a namespace and a prefix',
      PLAIN.replace('<feedback', '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"'),
    ],
    [
      'with its elements in another order',
      plainWith('<p>quarantine</p>\n    <sp>none</sp>', '<sp>none</sp><p>quarantine</p>'),
    ],
    ['with its address in other words', plainWith('2001:db8::25', '2001:0DB8:0::25')],
  ])('%s', async (_what, again) => {
    expect(again).not.toBe(PLAIN);
    expect((await outcomesOf(PLAIN, again)).outcomes).toEqual(['stored', 'duplicate']);
  });

  test.each([
    ['another count', '<count>7</count>', '<count>8</count>'],
    ['another result', '<dkim>pass</dkim>', '<dkim>fail</dkim>'],
    ['another policy', '<pct>50</pct>', '<pct>51</pct>'],
    ['another address', '192.0.2.1', '192.0.2.2'],
  ])('but with %s it is a conflict', async (_what, from, to) => {
    const { outcomes } = await outcomesOf(PLAIN, plainWith(from, to), plainWith(from, to));
    expect(outcomes).toEqual(['stored', 'conflict', 'conflict']);
  });

  test('and so is the same document that another version read otherwise', async () => {
    const { db } = await outcomesOf(PLAIN, plainWith('<count>7</count>', '<count>8</count>'));
    const other = { payload_sha256: Buffer.alloc(16, 1) };
    await db.write(async (tx) => {
      await tx.updateTable('report').set(other).execute();
      await tx.updateTable('conflict').set(other).execute();
    });
    const read = async (input: string) =>
      (await takeIn({ db }, input)).map(({ outcome }) => outcome);
    expect(await read(PLAIN)).toEqual(['duplicate']);
    expect(await read(plainWith('<count>7</count>', '<count>8</count>'))).toEqual(['duplicate']);
  });
});

describe('the same content under another id', () => {
  const again = plainWith('2026-0001', '2026-0002');

  test('is stored with a warning, and listed', async () => {
    const { db, outcomes } = await outcomesOf(PLAIN, again, again);
    expect(outcomes).toEqual(['stored', 'stored', 'duplicate']);
    const listed = await listDocuments(db, { limit: 9 });
    expect(listed).toMatchObject([
      { outcome: 'repeated', domain: 'example.com', input: '1.xml', reason: null },
    ]);
    expect(await listDocuments(db, { limit: 9, outcome: 'repeated' })).toEqual(listed);
    expect(await listDocuments(db, { limit: 9, outcome: 'conflict' })).toEqual([]);
    const reports = db.selectFrom('report').select(['report_id', 'warnings']).orderBy('report_id');
    expect(await reports.execute()).toEqual([
      { report_id: '2026-0001', warnings: '[]' },
      { report_id: '2026-0002', warnings: '[{"code":"repeated_content","count":1,"where":null}]' },
    ]);
  });

  test('is seen among reports that come together', async () => {
    const { db } = await aStore();
    const box = [PLAIN, again].map(
      (xml) => `From a@example.net Thu Jan  1 00:00:00 2026\nSubject: x\n\n${xml}\n\n`,
    );
    const found = await takeIn({ db }, box.join(''));
    expect(found.map(({ outcome }) => outcome)).toEqual(['unclaimed', 'unclaimed']);
    expect(await listDocuments(db, { limit: 9 })).toMatchObject([{ outcome: 'repeated' }]);
  });

  test.each([
    ['of another window', '<end>1767311999</end>', '<end>1767312000</end>'],
    ['of another reporter', 'Example Mail', 'Other Mail'],
    [
      'of another domain',
      '<domain>example.com</domain>\n    <adkim>',
      '<domain>example.net</domain>\n    <adkim>',
    ],
  ])('is another one %s', async (_what, from, to) => {
    const { db } = await outcomesOf(PLAIN, again.replace(from, to));
    expect(await listDocuments(db, { limit: 9 })).toEqual([]);
  });
});
