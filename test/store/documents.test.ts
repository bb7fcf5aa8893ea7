import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import { toBytes, toHex } from '../../src/domain/hex.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { readOriginal } from '../../src/store/documents/originals.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { putBrake } from '../support/brake.ts';
import { aBareAccount, aDomain, aReport, NOW, receive, toCode } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabase, aStore } from '../support/store.ts';

const TABLES = ['document', 'report', 'conflict', 'rejection', 'domain', 'domain_day'] as const;

async function countRows(db: Store['db']): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    counts[table] = (await db.selectFrom(table).selectAll().execute()).length;
  }
  return counts;
}

/** Whether the original of each document is kept, in the order in which they came. */
async function keptOf(db: Store['db']): Promise<boolean[]> {
  const rows = await db.selectFrom('document').select('content').orderBy('seq').execute();
  return rows.map(({ content }) => content !== null);
}

const headOf = (db: Store['db'], name: string) =>
  db
    .selectFrom('domain')
    .select(['reports_total', 'reports_version', 'last_report_at'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow();

describe('a report', () => {
  test('for a registered domain is stored, for another it is unclaimed', async () => {
    const { db } = await aStore();
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    const reports = [aReport(), aReport({ domain: 'nobody.example' })];
    expect(await receive(db, reports)).toEqual(['stored', 'unclaimed']);
  });

  test('of the same identity again is a duplicate, which changes nothing', async () => {
    const { db } = await aStore();
    const report = aReport();
    await receive(db, [report]);
    const before = [await headOf(db, 'example.com'), await countRows(db)];
    const bytes = Buffer.from('another file');
    const documents = [{ member: [], content: report }];
    const source = { name: 'test', bytes, documents };
    expect(await receiveInputs(db, [source], '2026-04-01T00:00:00Z')).toEqual(['duplicate']);
    const [head, counts] = before;
    expect(await headOf(db, 'example.com')).toEqual(head);
    expect(await countRows(db)).toEqual(counts);
  });

  test('of the same identity with other content is a conflict: the first is kept, the second is stored beside it', async () => {
    const { db } = await aStore();
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    const first = aReport({ reportId: 'one', totalMessages: 10 });
    const second = aReport({ reportId: 'one', totalMessages: 99, payload: 'other' });
    expect(await receive(db, [first, second, second, first])).toEqual([
      'stored',
      'conflict',
      'conflict',
      'duplicate',
    ]);
    const reports = await db.selectFrom('report').select('total_messages').execute();
    expect(reports).toEqual([{ total_messages: 10 }]);
    const conflicts = await db.selectFrom('conflict').select('payload_sha256').execute();
    expect(conflicts).toEqual([{ payload_sha256: toBytes(second.payloadSha256) }]);
    const { seq } = await db.selectFrom('domain').select('seq').executeTakeFirstOrThrow();
    const ofDomain = db.selectFrom('conflict').select('domain_seq');
    expect(await ofDomain.execute()).toEqual([{ domain_seq: seq }]);
    expect((await headOf(db, 'example.com')).reports_total).toBe(1);
  });

  test('and its duplicate in one batch and one file: stored once', async () => {
    const { db } = await aStore();
    const report = aReport();
    const documents = ['a.xml', 'b.xml'].map((name) => ({ member: [name], content: report }));
    const source = { name: 'a.zip', bytes: Buffer.from('zip'), documents };
    expect(await receiveInputs(db, [source], NOW)).toEqual(['unclaimed', 'duplicate']);
    expect((await headOf(db, 'example.com')).reports_total).toBe(1);
  });

  test('that two processes store at the same time is stored once', async () => {
    const path = await aDatabase();
    const store = await openStore(path);
    await runTogether(
      2,
      path,
      `import { receiveInputs } from 'scripts/receive.ts';
      import { openStore } from 'src/store/engine/open.ts';
      const report = ${toCode(aReport())};
      const { db } = await openStore(process.argv[1]);
      for (let i = 0; i < 20; i++) {
        const metadata = { ...report.metadata, reportId: String(i) };
        const bytes = Buffer.from('file ' + i + process.argv[2]);
        const documents = [{ member: [], content: { ...report, metadata } }];
        await receiveInputs(db, [{ name: 'x', bytes, documents }], '${NOW}');
      }`,
    );
    expect((await headOf(store.db, 'example.com')).reports_total).toBe(20);
    expect(await countRows(store.db)).toMatchObject({ report: 20, document: 20, conflict: 0 });
    await store.close();
  });

  test('the member names are stored, outermost first', async () => {
    const { db } = await aStore();
    const documents = [{ member: ['report.zip', 'report.xml'], content: aReport() }];
    await receiveInputs(db, [{ name: 'mail.eml', bytes: Buffer.from('x'), documents }], NOW);
    const { member } = await db.selectFrom('document').select('member').executeTakeFirstOrThrow();
    expect(member).toBe('report.zip > report.xml');
  });
});

describe('conflicts of a report', () => {
  const other = (payload: string) => aReport({ reportId: 'one', payload });

  test('that anybody can send are ten at most, in one transaction or in many', async () => {
    const { db } = await aStore();
    const [first, ...others] = Array.from({ length: 16 }, (_, i) => other(`${i}`));
    await receive(db, [first as AggregateReport, ...others.slice(0, 7)]);
    expect(await receive(db, others.slice(7, 14))).toEqual(Array(7).fill('conflict'));
    await receive(db, others.slice(14));
    expect(await countRows(db)).toMatchObject({ report: 1, conflict: 10, document: 11 });
  });

  test('have no original of more than a mebibyte', async () => {
    const { db } = await aStore();
    const inputs = ['0', '1'].map((payload) => ({
      name: payload,
      bytes: randomBytes(3 * 1024 * 1024),
      documents: [{ member: [], content: other(payload) }],
    }));
    for (const input of inputs) await receiveInputs(db, [input], NOW);
    expect(await countRows(db)).toMatchObject({ report: 1, conflict: 1, document: 2 });
    expect(await keptOf(db)).toEqual([true, false]);
    const parts = await db.selectFrom('document_part').select('document_seq').distinct().execute();
    expect(parts).toEqual([{ document_seq: 1 }]);
  });
});

describe('a refusal', () => {
  const refusal = new Refusal('bad_xml', 'not well-formed', 'line 5');

  test('is stored with the original bytes and the place of the error', async () => {
    const { db } = await aStore();
    expect(await receive(db, [refusal])).toEqual(['rejected']);
    const [row] = await db.selectFrom('rejection').selectAll().execute();
    expect(row).toMatchObject({ reason: 'bad_xml', message: 'not well-formed', place: 'line 5' });
    expect(await countRows(db)).toMatchObject({ document: 1, report: 0, domain: 0 });
  });

  test('of the same bytes is stored once', async () => {
    const { db } = await aStore();
    const source = {
      name: 'x',
      bytes: Buffer.from('<feedback'),
      documents: [{ member: [], content: refusal }],
    };
    for (let i = 0; i < 3; i++) {
      expect(await receiveInputs(db, [source], NOW)).toEqual(['rejected']);
    }
    expect(await countRows(db)).toMatchObject({ document: 1, rejection: 1 });
  });

  test('does not prevent storing the other documents of its file', async () => {
    const { db } = await aStore();
    const documents = [
      { member: ['a'], content: refusal },
      { member: ['b'], content: aReport() },
      { member: ['c'], content: new Refusal('doctype_forbidden', 'a DOCTYPE') },
    ];
    const source = { name: 'a.zip', bytes: Buffer.from('zip'), documents };
    expect(await receiveInputs(db, [source], NOW)).toEqual(['rejected', 'unclaimed', 'rejected']);
    expect(await countRows(db)).toMatchObject({ rejection: 2, report: 1, document: 3 });
  });
});

describe('the original bytes', () => {
  const NOTHING = [{ member: [], content: new Refusal('empty', 'empty') }];
  const xml = Buffer.from(`<feedback>${'<record/>'.repeat(500)}</feedback>\r\n`);
  test.each<[string, Buffer]>([
    ['XML', xml],
    ['gzip', gzipSync(xml)],
    ['something that only begins like gzip', Buffer.from([0x1f, 0x8b])],
    ['something that only begins like zip', Buffer.from('PK')],
    ['much XML', Buffer.concat([xml, Buffer.alloc(2_500_000, '<record/>')])],
    ['three parts of what does not compress', randomBytes(2_500_000)],
    ['two parts of gzip', Buffer.concat([gzipSync(xml), Buffer.alloc(1_500_000, 7)])],
    ['exactly two parts', Buffer.concat([Buffer.from('PK'), randomBytes(2 * 1024 * 1024 - 2)])],
    ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['one byte', Buffer.from([0])],
    ['nothing', Buffer.alloc(0)],
  ])('%s can be read again, byte for byte', async (_what, bytes) => {
    const { db } = await aStore();
    await receiveInputs(db, [{ name: 'x', bytes, documents: NOTHING }], NOW);
    const row = await db.selectFrom('document').selectAll().executeTakeFirstOrThrow();
    expect(Buffer.from(await readOriginal(db, row.seq))).toEqual(bytes);
    expect([row.content_bytes, row.input_bytes]).toEqual([bytes.length, bytes.length]);
    expect(row.input_sha256).toEqual(createHash('sha256').update(bytes).digest().subarray(0, 16));
  });

  test('are stored once, however often they come in', async () => {
    const { db } = await aStore();
    for (const name of ['a', 'b']) {
      await receiveInputs(db, [{ name, bytes: xml, documents: NOTHING }], NOW);
    }
    expect((await countRows(db))['document']).toBe(1);
  });

  test('take less space than their size when they compress', async () => {
    const { db } = await aStore();
    await receiveInputs(db, [{ name: 'x', bytes: xml, documents: NOTHING }], NOW);
    const { content } = await db.selectFrom('document').select('content').executeTakeFirstOrThrow();
    expect(content?.length).toBeLessThan(xml.length / 10);
  });
});

describe('of the bytes that came', () => {
  const inputOf = (name: string, content: AggregateReport | Refusal) => ({
    ...{ name, bytes: Buffer.from(name) },
    documents: [{ member: [], content }],
  });

  test('those of a stored content are kept, once, and not those of removed ones', async () => {
    const { db } = await aStore();
    const [report, other, gone] = [
      aReport({ reportId: 'one' }),
      aReport({ reportId: 'one', payload: 'other' }),
      aReport(),
    ];
    const key = { report_id: toReportId(gone), payload_sha256: toBytes(gone.payloadSha256) };
    await db.write((tx) => tx.insertInto('removed_payload').values(key).execute());
    const inputs = [report, other, other, report, gone].map((one, i) => inputOf(`${i}`, one));
    for (const input of inputs) await receiveInputs(db, [input], NOW);
    expect(await keptOf(db)).toEqual([true, true]);
    await receiveInputs(db, inputs, NOW);
    expect(await keptOf(db)).toEqual([true, true]);
  });

  test('those of a document that only came at first are added when it is wanted', async () => {
    const { db } = await aStore();
    const report = aReport();
    await receiveInputs(db, [inputOf('a', report), inputOf('b', report)], NOW);
    await receiveInputs(db, [inputOf('b', aReport())], NOW);
    expect(await keptOf(db)).toEqual([true, true]);
  });
});

describe('a large original', () => {
  const bytes = Buffer.concat([Buffer.from('PK'), randomBytes(3 * 1024 * 1024)]);
  const inputOf = (content: AggregateReport | Refusal, name = 'x') => ({
    ...{ name, bytes: Buffer.concat([bytes, Buffer.from(name)]) },
    documents: [{ member: [], content }],
  });
  const countParts = async (db: Store['db']) =>
    (await db.selectFrom('document_part').select('part').execute()).length;

  test.each([0, 2])(
    'whose storing ends after %i parts is stored when it comes again',
    async (parts) => {
      const { db } = await aStore();
      const release = await putBrake(db, { table: 'document_part', at: 'insert', fromRows: parts });
      const input = inputOf(aReport());
      await expect(receiveInputs(db, [input], NOW)).rejects.toThrow('brake');
      expect([await keptOf(db), await countParts(db)]).toEqual([[false], parts]);
      expect((await countRows(db))['report']).toBe(0);
      await release();
      expect(await receiveInputs(db, [input], NOW)).toEqual(['unclaimed']);
      expect([await keptOf(db), await countParts(db)]).toEqual([[true], 3]);
      expect(Buffer.from(await readOriginal(db, 1))).toEqual(input.bytes);
    },
  );

  test('of an older version, of which parts were left, is replaced', async ({ skip }) => {
    skip(IS_CITUS);
    const { db } = await aStore();
    const release = await putBrake(db, { table: 'report', at: 'insert' });
    const input = inputOf(aReport());
    await expect(receiveInputs(db, [input], NOW)).rejects.toThrow('brake');
    await release();
    await db.write((tx) =>
      tx
        .updateTable('document_part')
        .set({ content: Buffer.from('older') })
        .execute(),
    );
    await receiveInputs(db, [input], NOW);
    expect(Buffer.from(await readOriginal(db, 1))).toEqual(input.bytes);
  });

  test('of a duplicate, or of what is stored whole, is not stored again', async () => {
    const { db } = await aStore();
    const report = aReport();
    await receiveInputs(db, [inputOf(report)], NOW);
    await receiveInputs(db, [inputOf(report, 'y'), inputOf(report)], NOW);
    expect([await keptOf(db), await countParts(db)]).toEqual([[true], 3]);
  });

  test('that is not complete is said to be so', async () => {
    const { db } = await aStore();
    await receiveInputs(db, [inputOf(aReport())], NOW);
    await db.write((tx) => tx.deleteFrom('document_part').where('part', '=', 3).execute());
    await expect(readOriginal(db, 1)).rejects.toThrow('is not complete');
  });
});

describe('all or nothing', () => {
  test('a batch that fails in its last write leaves nothing, including the original bytes', async ({
    skip,
  }) => {
    skip(IS_CITUS);
    const { db } = await aStore();
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    await receive(db, [aReport()]);
    const before = [await headOf(db, 'example.com'), await countRows(db)];
    const release = await putBrake(db, { table: 'domain', at: 'update of last_report_at' });
    const batch = [aReport(), aReport({ domain: 'new.example' }), new Refusal('empty', 'empty')];
    await expect(receive(db, batch, '2026-04-01T00:00:00Z')).rejects.toThrow('brake');
    expect([await headOf(db, 'example.com'), await countRows(db)]).toEqual(before);
    await release();
    expect(await receive(db, batch, '2026-04-01T00:00:00Z')).toEqual([
      'stored',
      'unclaimed',
      'rejected',
    ]);
  });

  test('an empty batch changes nothing', async () => {
    const { db } = await aStore();
    expect(await receiveInputs(db, [], NOW)).toEqual([]);
    expect((await countRows(db))['document']).toBe(0);
  });
});

/** What came compressed is stored as it is, so these are the sizes of the rows' contents. */
const toInputsOf = (sizes: readonly number[]) =>
  sizes.map((size) => ({
    name: `${size}`,
    bytes: Buffer.concat([Buffer.from('PK'), randomBytes(size)]),
    documents: [{ member: [], content: new Refusal('empty', 'empty') }],
  }));

test('documents that come in together are inserted in the order of their sizes', async () => {
  const { db } = await aStore();
  const sizes = [900, 100, 700, 300, 500];
  await receiveInputs(db, toInputsOf(sizes), NOW);
  const rows = await db.selectFrom('document').select('input_name').orderBy('seq').execute();
  expect(rows.map(({ input_name }) => Number(input_name))).toEqual(sizes.toSorted((a, b) => a - b));
});

test('documents of one size are inserted in the order of their hashes, as in every transaction', async () => {
  const { db } = await aStore();
  await receiveInputs(db, toInputsOf(Array(20).fill(500)), NOW);
  const rows = await db.selectFrom('document').select('input_sha256').orderBy('seq').execute();
  const hashes = rows.map(({ input_sha256 }) => toHex(input_sha256));
  expect(hashes).toHaveLength(20);
  expect(hashes).toEqual(hashes.toSorted());
});
