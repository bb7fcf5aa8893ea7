import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toReceived } from '../../scripts/receive.ts';
import { toBytes } from '../../src/domain/hex.ts';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { insertReceived, type ReceivedDocument } from '../../src/store/reports/receive.ts';
import { aReport, aReportOf, NOW, recordsOf } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { listSources } from '../support/day-sources.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase, aStore, openTestStore } from '../support/store.ts';

const LATER = '2026-03-16T00:00:00Z';

type Content = ReceivedDocument['content'];

/** Documents as they come: each content in an input with these bytes, read by itself. */
const documentsOf = (
  inputs: readonly (readonly [bytes: string, content: Content])[],
): ReceivedDocument[] =>
  inputs.flatMap(([bytes, content]) =>
    toReceived({
      ...{ name: bytes, bytes: Buffer.from(bytes) },
      documents: [{ member: [], content }],
    }),
  );

/** Of the inputs that came in. */
async function namesOf(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('document').select('input_name').execute();
  return rows.map(({ input_name }) => input_name).sort();
}

describe('a batch', () => {
  test('with several contents of each identity stores the first ones, whatever comes between', async () => {
    const { db } = await aStore();
    const sources = Array.from({ length: 195 }, (_, i) => {
      const [reportId, payload] = [String(i % 65), i < 130 ? 'first' : 'other'];
      return [`file ${i}`, aReport({ reportId, payload: `${payload} ${reportId}` })] as const;
    });
    const outcomes = await insertReceived(db, documentsOf(sources), NOW);
    expect(Map.groupBy(outcomes, (outcome) => outcome).get('unclaimed')).toHaveLength(65);
    expect([outcomes[64], outcomes[65], outcomes[129], outcomes[130], outcomes[194]]).toEqual([
      'unclaimed',
      'duplicate',
      'duplicate',
      'conflict',
      'conflict',
    ]);
    expect(await db.selectFrom('conflict').select('seq').execute()).toHaveLength(65);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('with the same bytes twice stores one source, whose rejection goes when the bytes are read well', async () => {
    const { db } = await aStore();
    const refusal = new Refusal('reader_failed', 'It ran out of memory.');
    const report = aReport();
    const sources = [
      ['same', refusal],
      ['other', refusal],
      ['same', report],
      ['same', report],
    ] as const;
    expect(await insertReceived(db, documentsOf(sources), NOW)).toEqual([
      'rejected',
      'rejected',
      'unclaimed',
      'duplicate',
    ]);
    expect(await namesOf(db)).toEqual(['other', 'same']);
    const left = await db
      .selectFrom('rejection')
      .innerJoin('document', 'document.seq', 'rejection.document_seq')
      .select('input_name')
      .execute();
    expect(left).toEqual([{ input_name: 'other' }]);
  });

  test('with removed payloads stores the others, and no domain of which all is removed', async () => {
    const { db } = await aStore();
    const [one, two, gone, kept] = [
      aReport({ reportId: 'one', payload: 'removed' }),
      aReport({ reportId: 'one', payload: 'kept' }),
      aReport({ domain: 'gone.example' }),
      aReport(),
    ];
    await db.write(async (tx) => {
      for (const report of [one, gone]) {
        const key = {
          report_id: toReportId(report),
          payload_sha256: toBytes(report.payloadSha256),
        };
        await tx.insertInto('removed_payload').values(key).execute();
      }
    });
    const sources = [one, two, gone, kept].map((report, i) => [`file ${i}`, report] as const);
    const outcomes = await insertReceived(db, documentsOf(sources), NOW);
    expect(outcomes).toEqual(['removed', 'unclaimed', 'removed', 'unclaimed']);
    const names = await db.selectFrom('domain').select('name').execute();
    expect(names).toEqual([{ name: 'example.com' }]);
    expect(await listMiscounts(db)).toEqual({});
  });
});

/** A few values of each kind, so that they meet often. */
const contents = fc.oneof(
  { weight: 4, arbitrary: fc.record({ domain: fc.nat(2), report: fc.nat(3), payload: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const batches = fc.array(fc.tuple(fc.nat(12), contents), { minLength: 1, maxLength: 30 });

test('documents that are stored together end as if each were stored by itself', async () => {
  const numRuns = caseCount({ few: 6, fewOnPostgres: 2, full: 60, fullOnPostgres: 15 });
  await fc.assert(
    fc.asyncProperty(batches, async (batch) => {
      // A file has one content.
      const sources = batch.map(
        ([file, content]) => [`file ${file} ${content?.payload}`, toContent(content)] as const,
      );
      const [together, alone] = [await openTestStore(), await openTestStore()];
      const outcomes = await insertReceived(together.db, documentsOf(sources), NOW);
      const wanted: string[] = [];
      for (const document of documentsOf(sources))
        wanted.push(...(await insertReceived(alone.db, [document], NOW)));
      expect(outcomes).toEqual(wanted);
      expect(await readAll(together.db)).toEqual(await readAll(alone.db));
      expect(await listMiscounts(together.db)).toEqual({});
      await Promise.all([together.close(), alone.close()]);
    }),
    { numRuns },
  );
});

function toContent(
  wanted:
    | { readonly domain: number; readonly report: number; readonly payload: number }
    | undefined,
): Content {
  if (wanted === undefined) return new Refusal('bad_xml', 'not well-formed');
  const { domain, report, payload } = wanted;
  const records = recordsOf(`192.0.2.${payload}`, 10, 7);
  const reportId = String(report);
  // The hash of a content has its domain and its window.
  const fields = {
    domain: `d${domain}.example`,
    reportId,
    payload: `${domain} ${reportId} ${payload}`,
  };
  return aReportOf(records, fields);
}

/** What is stored, without numbers and random ids. */
async function readAll(db: Db): Promise<unknown> {
  const documents = await db.selectFrom('document').selectAll().execute();
  const nameOf = (wanted: number) => documents.find(({ seq }) => seq === wanted)?.input_name;
  const reports = await db.selectFrom('report').selectAll().orderBy('id').execute();
  const byReport = db.selectFrom('conflict').selectAll().orderBy('report_id');
  const conflicts = await byReport.orderBy('payload_sha256').execute();
  const rejections = await db.selectFrom('rejection').selectAll().execute();
  return {
    documents: documents.map(({ seq: _, ...row }) => JSON.stringify(row)).sort(),
    reports: reports.map(({ seq: _, domain_seq: __, nonce: ___, document_seq, ...row }) => [
      row,
      nameOf(document_seq),
    ]),
    conflicts: conflicts.map(({ report_id, document_seq, payload_sha256 }) => [
      report_id,
      nameOf(document_seq),
      payload_sha256,
    ]),
    rejections: rejections.map(({ document_seq }) => nameOf(document_seq)).sort(),
    addresses: (await listSources(db)).map((row) => JSON.stringify(row)).sort(),
  };
}

/** The same database, whose changes are committed only when `end` is called. */
function holding(db: Db) {
  const held = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const write: Db['write'] = (change) =>
    db.write(async (tx) => {
      const result = await change(tx);
      held.resolve();
      await ended.promise;
      return result;
    });
  return { db: { ...db, write }, held: held.promise, end: ended.resolve };
}

test('what another process is storing at the same time is waited for, and stored once', async () => {
  const database = await aDatabase();
  const [one, other] = [await openStore(database), await openStore(database)];
  const refusal = new Refusal('bad_xml', 'not well-formed');
  const [first, changed] = [aReport({ reportId: 'a' }), aReport({ reportId: 'a', payload: 'b' })];
  const theirs = [
    ['same', first],
    ['rejected', refusal],
  ] as const;
  const ours = [
    ['ours', aReport({ domain: 'new.example' })],
    ['rejected', refusal],
    ['same', first],
    ['another', changed],
    ['more', aReport()],
  ] as const;
  const others = holding(other.db);
  const storingTheirs = insertReceived(others.db, documentsOf(theirs), NOW);
  await others.held;
  const storingOurs = insertReceived(one.db, documentsOf(ours), LATER);
  for (let i = 0; i < 20; i++) await one.db.selectFrom('domain').select('id').execute();
  others.end();
  expect(await storingTheirs).toEqual(['unclaimed', 'rejected']);
  expect(await storingOurs).toEqual([
    'unclaimed',
    'rejected',
    'duplicate',
    'conflict',
    'unclaimed',
  ]);
  expect(await namesOf(one.db)).toEqual(['another', 'more', 'ours', 'rejected', 'same']);
  expect(await one.db.selectFrom('rejection').selectAll().execute()).toHaveLength(1);
  expect(await listMiscounts(one.db)).toEqual({});
  await Promise.all([one.close(), other.close()]);
});
