import { describe, expect, test } from 'vitest';
import { receiveInputs, toReceived } from '../../scripts/receive.ts';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { insertReceived, type ReceivedDocument } from '../../src/store/reports/receive.ts';
import { putBrake } from '../support/brake.ts';
import { aRecord, aReport, aReportOf, NOW } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { listSources } from '../support/day-sources.ts';
import { aStore } from '../support/store.ts';

/** The same database, which counts its transactions. */
function counting(db: Db): { db: Db; transactions: () => number } {
  let count = 0;
  const write: Db['write'] = (change) => {
    count += 1;
    return db.write(change);
  };
  return {
    db: { ...db, write },
    transactions: () => count,
  };
}

/** The documents of one input. */
function documentsOf(contents: readonly ReceivedDocument['content'][]): ReceivedDocument[] {
  const documents = contents.map((content) => ({ member: [], content }));
  return toReceived({ name: 'x', bytes: Buffer.from('a mailbox'), documents });
}

describe('a transaction of intake is bounded by what it writes', () => {
  test('a mailbox of 1,000 reports is stored in several', async () => {
    const { db, transactions } = counting((await aStore()).db);
    const reports = Array.from({ length: 1_000 }, () => aReport());
    const outcomes = await insertReceived(db, documentsOf(reports), NOW);
    expect(outcomes).toHaveLength(1_000);
    expect(transactions()).toBeGreaterThanOrEqual(5);
    const { reports_total } = await db
      .selectFrom('domain')
      .select('reports_total')
      .executeTakeFirstOrThrow();
    expect(reports_total).toBe(1_000);
  });

  test('an original of 10 MB is stored in parts, one transaction each', async () => {
    const { db, transactions } = counting((await aStore()).db);
    const bytes = Buffer.concat([Buffer.from('PK'), Buffer.alloc(10 * 1024 * 1024, 'x')]);
    const documents = [{ member: [], content: aReport() }];
    await receiveInputs(db, [{ name: 'x', bytes, documents }], NOW);
    // Its row, ten parts after the first mebibyte, and the report with that.
    expect(transactions()).toBe(12);
    const parts = await db.selectFrom('document_part').select('content').execute();
    expect(Math.max(...parts.map(({ content }) => content.length))).toBe(1024 * 1024);
  });
});

describe('a source whose reading was interrupted', () => {
  test('is read again without counting anything twice, including rejections', async ({ skip }) => {
    skip(IS_CITUS);
    const { db } = await aStore();
    const reports = Array.from({ length: 450 }, () => aReport());
    const refusals = Array.from({ length: 50 }, () => new Refusal('bad_xml', 'not well-formed'));
    const documents = documentsOf([...refusals, ...reports]);
    // The third transaction fails, as if the process were killed there.
    const release = await putBrake(db, { table: 'report', at: 'insert', fromRows: 350 });
    await expect(insertReceived(db, documents, NOW)).rejects.toThrow('brake');
    await release();
    const half = await db.selectFrom('report').select('seq').execute();
    expect(half.length).toBeGreaterThan(0);
    await insertReceived(db, documents, NOW);
    const domain = await db.selectFrom('domain').selectAll().executeTakeFirstOrThrow();
    const [day] = await db.selectFrom('domain_day').selectAll().execute();
    expect([domain.reports_total, day?.reports, day?.messages]).toEqual([450, 450, 4_500]);
    expect(await db.selectFrom('rejection').select('document_seq').execute()).toHaveLength(50);
  });

  test('a report that replaces a rejection at the same position is stored', async () => {
    const { db } = await aStore();
    const source = { name: 'x', bytes: Buffer.from('x') };
    const refusal = new Refusal('reader_failed', 'It ran out of memory.');
    await receiveInputs(db, [{ ...source, documents: [{ member: [], content: refusal }] }], NOW);
    await receiveInputs(db, [{ ...source, documents: [{ member: [], content: aReport() }] }], NOW);
    expect(await db.selectFrom('rejection').selectAll().execute()).toEqual([]);
  });
});

test('a document that cannot be stored is rejected, and all others are stored', async () => {
  const { db } = await aStore();
  const broken = { ...aReport(), payloadSha256: null as unknown as string };
  const endless = aReport();
  const contents = [
    aReport(),
    broken,
    aReport(),
    { ...endless, metadata: { ...endless.metadata, end: 1e15 } },
    aReport(),
  ];
  expect(await insertReceived(db, documentsOf(contents), NOW)).toEqual([
    'unclaimed',
    'rejected',
    'unclaimed',
    'rejected',
    'unclaimed',
  ]);
  const refused = await db
    .selectFrom('rejection')
    .innerJoin('document', 'document.seq', 'rejection.document_seq')
    .select(['path', 'reason'])
    .execute();
  expect(refused).toEqual(['2', '4'].map((path) => ({ path, reason: 'reader_failed' })));
});

test('sums stop at 2^53 - 1, within a transaction and over several', async () => {
  const { db } = await aStore();
  const most = Number.MAX_SAFE_INTEGER;
  const report = () => aReportOf([aRecord({ sourceIp: '192.0.2.1', count: most, dkim: 'pass' })]);
  for (const _ of [1, 2]) await insertReceived(db, documentsOf([report(), report()]), NOW);
  const [day] = await db.selectFrom('domain_day').selectAll().execute();
  const [source] = await listSources(db);
  expect([day?.messages, day?.aligned]).toEqual([most, most]);
  expect([source?.messages, source?.aligned]).toEqual([most, most]);
});
