import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { addToTally } from '../../src/domain/reports/alignment.ts';
import { unpackContent } from '../../src/domain/reports/report-content.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { countSources } from '../../src/domain/reports/source-counts.ts';
import { addReport, type DaySources } from '../../src/domain/sources/day-sources.ts';
import { packSources } from '../../src/domain/sources/packed-sources.ts';
import {
  preferConflict,
  removeConflict,
  removeReport,
} from '../../src/store/corrections/corrections.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReport,
  aReportOf,
  NOW,
  receive,
  recordsOf,
  toCode,
} from '../support/builders.ts';
import { listDays, listSources } from '../support/day-sources.ts';
import { holdPages } from '../support/pages.ts';
import { runTogether } from '../support/processes.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase, aStore, storesOfHistories } from '../support/store.ts';

/** What one address sent. */
interface Sent {
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
}

interface Wanted {
  readonly domain?: string;
  readonly reportId?: string;
  readonly begin?: string;
  readonly sources?: readonly Sent[];
}

/** A content whose records are those of its sources; another variant is another content of the same report. */
function aContent(variant: string, { sources = [], ...wanted }: Wanted = {}): AggregateReport {
  const { domain = 'example.com', reportId = 'one', begin = '2026-03-14T00:00:00Z' } = wanted;
  const payload = [domain, reportId, begin, variant].join(' ');
  const records = sources.flatMap(({ address, messages, aligned }) =>
    recordsOf(address, messages, aligned),
  );
  return aReportOf(records, { domain, reportId, begin, payload });
}

const from = (address: string, messages: number, aligned = 0): Sent => ({
  address,
  messages,
  aligned,
});

const OF_GENUINE = [from('192.0.2.1', 90, 90), from('192.0.2.2', 5)];
const OF_FORGED = [from('192.0.2.1', 40), from('203.0.113.9', 700)];
const GENUINE = aContent('genuine', { sources: OF_GENUINE });
const FORGED = aContent('forged', { sources: OF_FORGED });
const ID = toReportId(GENUINE);

const sourcesOf = listSources;

const dayOf = (db: Db) => db.selectFrom('domain_day').selectAll().execute();

/** A claimed domain whose forged report came before the genuine one. */
async function aForgery(store: Store): Promise<Db> {
  const { db } = store;
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  expect(await receive(db, [FORGED], '2026-03-15T01:00:00Z')).toEqual(['stored']);
  expect(await receive(db, [GENUINE], '2026-03-16T01:00:00Z')).toEqual(['conflict']);
  return db;
}

describe('a conflict that is preferred', () => {
  test('replaces the forged report that came first, in all counts', async () => {
    const store = await aStore();
    const db = await aForgery(store);
    await preferConflict(db, 1);
    const [report] = await db.selectFrom('report').selectAll().execute();
    expect(report).toMatchObject({ id: ID, seq: 1, total_messages: 95, aligned_messages: 90 });
    expect(report).toMatchObject({ payload_sha256: GENUINE.payloadSha256, document_seq: 2 });
    const [conflict] = await db.selectFrom('conflict').selectAll().execute();
    expect(conflict).toMatchObject({ payload_sha256: FORGED.payloadSha256, document_seq: 1 });
    expect(await sourcesOf(db)).toEqual(OF_GENUINE);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('and preferred again restores the former state', async () => {
    const db = await aForgery(await aStore());
    const readReports = async () => {
      const rows = await db.selectFrom('report').selectAll().execute();
      // Clients that follow the list meet a corrected report again.
      return rows.map(({ position: _, ...row }) => row);
    };
    const read = async () => [
      await sourcesOf(db),
      await dayOf(db),
      await readReports(),
      await db.selectFrom('conflict').selectAll().execute(),
    ];
    const before = await read();
    await preferConflict(db, 1);
    await preferConflict(db, 1);
    expect(await read()).toEqual(before);
  });

  test('and received again changes nothing: it is the duplicate, the forged one the conflict', async () => {
    const db = await aForgery(await aStore());
    await preferConflict(db, 1);
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['conflict', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });
});

describe('a report that is removed', () => {
  test('is subtracted from every count, and is not stored when it comes in again', async () => {
    const { db } = await aStore();
    const ofOther = [from('192.0.2.1', 3, 3)];
    const other = aContent('other', { reportId: 'two', sources: ofOther });
    await receive(db, [other], '2026-03-14T01:00:00Z');
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    await removeReport(db, ID, NOW);
    expect(await sourcesOf(db)).toEqual(ofOther);
    expect(await listMiscounts(db)).toEqual({});
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'unclaimed']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('as the only one of its day leaves no day, and no last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED]);
    await removeReport(db, ID, NOW);
    for (const table of ['report', 'domain_day', 'list_day'] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await listMiscounts(db)).toEqual({});
    expect((await db.selectFrom('document').select('seq').execute()).length).toBe(1);
  });

  test('leaves another one of the same second as the last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    const newer = aContent('newer', { reportId: 'two' });
    await receive(db, [newer], '2026-03-15T01:00:00Z');
    await removeReport(db, ID, NOW);
    expect(await listMiscounts(db)).toEqual({});
    const { last_report_at } = await db
      .selectFrom('domain')
      .select('last_report_at')
      .executeTakeFirstOrThrow();
    expect(last_report_at).toBe('2026-03-15T01:00:00Z');
  });

  test('is replaced by its oldest conflict', async () => {
    const db = await aForgery(await aStore());
    expect(await removeReport(db, ID, NOW)).toMatchObject({ report: ID, replacedBy: 1 });
    expect(await sourcesOf(db)).toEqual(OF_GENUINE);
    expect(await db.selectFrom('conflict').selectAll().execute()).toEqual([]);
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('from a day whose sum stopped at 2^53 - 1 leaves the exact sum of the others', async () => {
    const { db } = await aStore();
    const totalMessages = Number.MAX_SAFE_INTEGER;
    const huge = aReport({ domain: 'example.com', reportId: 'huge', totalMessages });
    const others = [3, 4].map((messages) =>
      aContent('honest', { reportId: `${messages}`, sources: [from('192.0.2.1', messages)] }),
    );
    await receive(db, [huge, ...others]);
    await removeReport(db, toReportId(huge), NOW);
    expect(await dayOf(db)).toMatchObject([{ reports: 2, messages: 7 }]);
  });

  test('never leaves an address with more aligned messages than messages', async () => {
    const { db } = await aStore();
    const later = aContent('later', { reportId: 'two', sources: [from('192.0.2.1', 5, 5)] });
    await receive(db, [later, FORGED]);
    // As if the address had been dropped and counted from zero.
    const sources: DaySources = new Map();
    addReport(sources, { reporter: null, sources: [from('192.0.2.1', 42, 5)] });
    const cut = { sources: packSources(sources) };
    await db.write((tx) => tx.updateTable('domain_day').set(cut).execute());
    await removeReport(db, ID, NOW);
    expect(await sourcesOf(db)).toEqual([from('192.0.2.1', 2, 2)]);
  });
});

test('a removed conflict is not stored again, and changes no count', async () => {
  const db = await aForgery(await aStore());
  const before = await db.selectFrom('domain').selectAll().execute();
  await removeConflict(db, 1, NOW);
  expect(await receive(db, [GENUINE])).toEqual(['removed']);
  expect(await db.selectFrom('conflict').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('domain').selectAll().execute()).toEqual(before);
});

/* Random sequences of steps, as in heads.test.ts. */

const NAMES = ['a.example', 'b.example', 'unclaimed.example'];
const BEGINS = ['2025-12-31T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-31T23:00:00Z'];
const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::25'];

const content = fc
  .tuple(fc.constantFrom(...NAMES), fc.nat(3), fc.constantFrom(...BEGINS), fc.nat(3))
  .map(([domain, id, begin, variant]) => {
    // Each variant of a report has totals of its own, and two patterns.
    const records = ADDRESSES.slice(variant % 3).flatMap((sourceIp, i) => [
      ...recordsOf(sourceIp, 10 * (variant + 1) + i, i),
      aRecord({ sourceIp, count: 2, spf: 'pass', headerFrom: `of-${variant}.example` }),
    ]);
    const payload = [domain, id, begin, variant].join(' ');
    return aReportOf(records, { domain, reportId: `${id}`, begin, payload });
  });

const at = fc.constantFrom('2026-02-01T00:00:00Z', '2026-02-01T09:00:00Z', '2026-02-03T00:00:00Z');
const step = fc.oneof(
  fc.record({
    kind: fc.constant('receive' as const),
    contents: fc.array(content, { maxLength: 8 }),
    at,
  }),
  fc.record({
    kind: fc.constantFrom('prefer' as const, 'removeReport' as const, 'removeConflict' as const),
    which: fc.nat(20),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Takes a step; a step without a matching row changes nothing. */
async function take({ db }: Store, taken: Step): Promise<void> {
  if (taken.kind === 'receive') return void (await receive(db, taken.contents, taken.at));
  const reports = await db.selectFrom('report').select('id').orderBy('seq').execute();
  const conflicts = await db.selectFrom('conflict').select('seq').orderBy('seq').execute();
  const report = reports[taken.which % Math.max(1, reports.length)];
  const conflict = conflicts[taken.which % Math.max(1, conflicts.length)];
  if (taken.kind === 'removeReport' && report) await removeReport(db, report.id, NOW);
  if (taken.kind === 'removeConflict' && conflict) await removeConflict(db, conflict.seq, NOW);
  if (taken.kind === 'prefer' && conflict) await preferConflict(db, conflict.seq);
}

/** The reports, with what each says of its sources by its stored records, whose sums are the report's totals. */
async function readReports(db: Db) {
  const rows = await db.selectFrom('report').selectAll().execute();
  return rows.map((row) => {
    const { records, others, policyPublished } = unpackContent(row.content);
    const { recordCount, totalMessages, alignedMessages } = records.reduce(addToTally, others);
    const { record_count, total_messages, aligned_messages } = row;
    expect([recordCount, totalMessages, alignedMessages].map(Number)).toEqual(
      [record_count, total_messages, aligned_messages].map(Number),
    );
    expect(NAMES).toContain(policyPublished.domain);
    return { ...row, sources: countSources(records) };
  });
}

/** What each address sent on each day, added up from the reports' stored records. */
async function holdSources(db: Db): Promise<void> {
  const right = new Map<string, DaySources>();
  for (const { domain_id, begin_date, reporter_org: reporter, sources } of await readReports(db)) {
    const key = `${domain_id} ${begin_date.slice(0, 10)}`;
    const day: DaySources = right.get(key) ?? new Map();
    addReport(day, { reporter, sources });
    right.set(key, day);
  }
  const stored = (await listDays(db)).map(
    ({ domain_id, day, sources }) => [`${domain_id} ${day}`, sources] as const,
  );
  expect(new Map(stored)).toEqual(right);
}

/** The listed rows as text, and the version of the list. */
async function readVersions(db: Db): Promise<Map<string, { version: string; shown: string }>> {
  const lists = new Map<string, { version: string; shown: string }>();
  const domains = await db.selectFrom('domain').selectAll().orderBy('id').execute();
  for (const { id, reports_version: version } of domains) {
    const reports = db.selectFrom('report').where('domain_id', '=', id).orderBy('seq');
    const rows = await reports.select(['id', 'total_messages', 'aligned_messages']).execute();
    lists.set(`reports ${id}`, { version, shown: JSON.stringify(rows) });
  }
  for (const { id, domains_version: version } of await db
    .selectFrom('account')
    .selectAll()
    .execute()) {
    const own = domains.filter(({ account_id }) => account_id === id);
    const shown = JSON.stringify(own.map((domain) => [domain.id, domain.last_report_at]));
    lists.set(`domains ${id}`, { version, shown });
  }
  return lists;
}

test.each(storesOfHistories({ few: [8, 2, 4], full: [60, 10, 40] }))(
  '$where: whatever is received, preferred and removed, every count matches the rows',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
        const store = await open();
        const { db } = store;
        try {
          for (const name of NAMES.slice(0, 2)) await aDomain(db, await aBareAccount(db), { name });
          let before = await readVersions(db);
          for (const taken of steps) {
            await take(store, taken);
            const after = await readVersions(db);
            for (const [list, { version, shown }] of before) {
              const now = after.get(list);
              const what = `version of ${list} after ${taken.kind}`;
              expect(now?.version !== version, what).toBe(now?.shown !== shown);
            }
            before = after;
            expect(await listMiscounts(db)).toEqual({});
          }
          await holdSources(db);
          await holdPages(store);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
  },
  120_000,
);

test('a process that ingests while another prefers and removes loses nothing', async () => {
  const path = await aDatabase();
  const store = await openStore(path);
  const db = await aForgery(store);
  const ingesting = runTogether(
    1,
    path,
    `import { receiveInputs } from 'scripts/receive.ts';
    import { openStore } from 'src/store/engine/open.ts';
    const report = ${toCode(GENUINE)};
    const { db, close } = await openStore(process.argv[1]);
    for (let i = 0; i < 60; i++) {
      const metadata = { ...report.metadata, reportId: 'other ' + i };
      const documents = [{ member: [], content: { ...report, metadata } }];
      await receiveInputs(db, [{ name: 'x', bytes: Buffer.from('file ' + i), documents }], '${NOW}');
    }
    await close();`,
  );
  let isOver = false;
  void ingesting.finally(() => {
    isOver = true;
  });
  for (let i = 0; !isOver; i++) {
    await preferConflict(db, 1);
    const brief = aContent('brief', { reportId: `brief ${i}`, sources: [from('192.0.2.7', 1)] });
    await receive(db, [brief]);
    await removeReport(db, toReportId(brief), NOW);
  }
  await ingesting;
  await removeReport(db, ID, NOW);
  expect(await listMiscounts(db)).toEqual({});
  expect(await dayOf(db)).toMatchObject([{ reports: 61 }]);
  const [own, ...others] = await sourcesOf(db);
  const total = [own, ...others].reduce((sum, source) => sum + (source?.messages ?? 0), 0);
  expect(total).toBe((await dayOf(db))[0]?.messages);
  await store.close();
});
