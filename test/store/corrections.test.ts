import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AggregateReport, SourceTally } from '../../src/domain/reports/aggregate-report.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
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
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { listDays, listSources } from '../support/day-sources.ts';
import { holdPages } from '../support/pages.ts';
import { runTogether } from '../support/processes.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase, aStore, storesOfHistories } from '../support/store.ts';

interface Wanted {
  readonly domain?: string;
  readonly reportId?: string;
  readonly begin?: string;
  readonly sources?: readonly SourceTally[];
  readonly totalMessages?: number;
}

/** A content whose totals match its sources; another variant is another content of the same report. */
function aContent(variant: string, { sources = [], ...wanted }: Wanted = {}): AggregateReport {
  const { domain = 'example.com', reportId = 'one', begin = '2026-03-14T00:00:00Z' } = wanted;
  const payload = [domain, reportId, begin, variant].join(' ');
  const sum = (of: 'messages' | 'aligned') => sources.reduce((all, source) => all + source[of], 0);
  const totalMessages = wanted.totalMessages ?? sum('messages');
  const totals = { totalMessages, alignedMessages: sum('aligned') };
  return { ...aReport({ domain, reportId, begin, payload, ...totals }), sources };
}

const from = (address: string, messages: number, aligned = 0): SourceTally => ({
  address,
  messages,
  aligned,
});

const GENUINE = aContent('genuine', { sources: [from('192.0.2.1', 90, 90), from('192.0.2.2', 5)] });
const FORGED = aContent('forged', { sources: [from('192.0.2.1', 40), from('203.0.113.9', 700)] });
const ID = toReportId(GENUINE);
const toRemove = (former: AggregateReport | null, payloadSha256 = former?.payloadSha256 ?? '') => ({
  id: ID,
  payloadSha256,
  former,
  next: null,
});

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
    await preferConflict(db, 1, { former: FORGED, preferred: GENUINE });
    const [report] = await db.selectFrom('report').selectAll().execute();
    expect(report).toMatchObject({ id: ID, seq: 1, total_messages: 95, aligned_messages: 90 });
    expect(report).toMatchObject({ payload_sha256: GENUINE.payloadSha256, document_seq: 2 });
    const [conflict] = await db.selectFrom('conflict').selectAll().execute();
    expect(conflict).toMatchObject({ payload_sha256: FORGED.payloadSha256, document_seq: 1 });
    expect(await sourcesOf(db)).toEqual(GENUINE.sources);
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
    await preferConflict(db, 1, { former: FORGED, preferred: GENUINE });
    await preferConflict(db, 1, { former: GENUINE, preferred: FORGED });
    expect(await read()).toEqual(before);
  });

  test('and received again changes nothing: it is the duplicate, the forged one the conflict', async () => {
    const db = await aForgery(await aStore());
    await preferConflict(db, 1, { former: FORGED, preferred: GENUINE });
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['conflict', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('while another process has preferred it already is left unchanged', async () => {
    const db = await aForgery(await aStore());
    const contents = { former: FORGED, preferred: GENUINE };
    await preferConflict(db, 1, contents);
    const again = preferConflict(db, 1, contents);
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    expect(await sourcesOf(db)).toEqual(GENUINE.sources);
  });
});

describe('a report that is removed', () => {
  test('is subtracted from every count, and is not stored when it comes in again', async () => {
    const { db } = await aStore();
    const other = aContent('other', { reportId: 'two', sources: [from('192.0.2.1', 3, 3)] });
    await receive(db, [other], '2026-03-14T01:00:00Z');
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    await removeReport(db, toRemove(FORGED), NOW);
    expect(await sourcesOf(db)).toEqual(other.sources);
    expect(await listMiscounts(db)).toEqual({});
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'unclaimed']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('as the only one of its day leaves no day, and no last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED]);
    await removeReport(db, toRemove(FORGED), NOW);
    for (const table of ['report', 'domain_day', 'list_day'] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await listMiscounts(db)).toEqual({});
    expect((await db.selectFrom('document').select('seq').execute()).length).toBe(1);
  });

  test('that cannot be read again leaves exact totals; no source address keeps its messages', async () => {
    const { db } = await aStore();
    const others = [from('192.0.2.1', 800, 790), from('192.0.2.3', 3, 3)];
    const other = aContent('other', { reportId: 'two', sources: others });
    await receive(db, [other, FORGED]);
    await removeReport(db, toRemove(null, FORGED.payloadSha256), NOW);
    expect(await listMiscounts(db)).toEqual({});
    expect(await dayOf(db)).toMatchObject([{ reports: 1, messages: 803, aligned: 793 }]);
    // 840 less the 740 messages of the report, of which 40 were of this address.
    expect(await sourcesOf(db)).toEqual([from('192.0.2.1', 100, 100)]);
  });

  test('that cannot be read again and is replaced by a conflict counts no message of both', async () => {
    const db = await aForgery(await aStore());
    const next = { seq: 1, content: GENUINE };
    await removeReport(db, { ...toRemove(null, FORGED.payloadSha256), next }, NOW);
    expect(await sourcesOf(db)).toEqual(GENUINE.sources);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('while a conflict with it is stored is left unchanged', async () => {
    const db = await aForgery(await aStore());
    const removed = removeReport(db, toRemove(FORGED), NOW);
    await expect(removed).rejects.toMatchObject({ code: 'conflict' });
    expect(await sourcesOf(db)).toEqual(FORGED.sources);
  });

  test('while a newer one is stored leaves the newer one as the last report', async () => {
    const { db } = await aStore();
    await receive(db, [FORGED], '2026-03-15T01:00:00Z');
    const newer = aContent('newer', { reportId: 'two' });
    const slow: Db = {
      ...db,
      write: async (change) => {
        await receive(db, [newer], '2026-03-15T01:00:00Z');
        return await db.write(change);
      },
    };
    await removeReport(slow, toRemove(FORGED), NOW);
    expect(await listMiscounts(db)).toEqual({});
    const { last_report_at } = await db
      .selectFrom('domain')
      .select('last_report_at')
      .executeTakeFirstOrThrow();
    expect(last_report_at).toBe('2026-03-15T01:00:00Z');
  });

  test('is replaced by its oldest conflict', async () => {
    const db = await aForgery(await aStore());
    const next = { seq: 1, content: GENUINE };
    await removeReport(db, { ...toRemove(FORGED), next }, NOW);
    expect(await sourcesOf(db)).toEqual(GENUINE.sources);
    expect(await db.selectFrom('conflict').selectAll().execute()).toEqual([]);
    expect(await receive(db, [FORGED, GENUINE])).toEqual(['removed', 'duplicate']);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('from a day whose sum stopped at 2^53 - 1 leaves the exact sum of the others', async () => {
    const { db } = await aStore();
    const huge = aContent('huge', { totalMessages: Number.MAX_SAFE_INTEGER });
    const others = [3, 4].map((messages) =>
      aContent('honest', { reportId: `${messages}`, sources: [from('192.0.2.1', messages)] }),
    );
    await receive(db, [huge, ...others]);
    await removeReport(db, toRemove(huge), NOW);
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
    await removeReport(db, toRemove(FORGED), NOW);
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
    // Each variant of a report has totals of its own.
    const sources = ADDRESSES.slice(variant % 3).map((address, i) => {
      const messages = 10 * (variant + 1) + i;
      const aligned = i === 0 ? 0 : messages;
      // Two patterns, and three messages without one.
      const patterns = [
        { pattern: `of all ${i}`, messages: messages - 5 },
        { pattern: `of ${variant}`, messages: 2 },
      ];
      return { ...from(address, messages, aligned), dkimAligned: aligned, spfAligned: i, patterns };
    });
    return aContent(`${variant}`, { domain, reportId: `${id}`, begin, sources });
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

class World {
  readonly contents = new Map<string, AggregateReport>();
  readonly #db: Db;

  constructor({ db }: Store) {
    this.#db = db;
  }

  /** Takes a step; a step without a matching row changes nothing. */
  async take(taken: Step): Promise<void> {
    if (taken.kind === 'receive') {
      for (const received of taken.contents) this.contents.set(received.payloadSha256, received);
      return void (await receive(this.#db, taken.contents, taken.at));
    }
    if (taken.kind === 'removeReport') return await this.#removeReport(taken.which);
    const conflict = await this.#pick('conflict', taken.which);
    if (conflict === undefined) return;
    if (taken.kind === 'removeConflict') return await removeConflict(this.#db, conflict.seq, NOW);
    const { payload_sha256 } = await this.#db
      .selectFrom('report')
      .select('payload_sha256')
      .where('seq', '=', conflict.report_seq)
      .executeTakeFirstOrThrow();
    const former = this.#contentOf(payload_sha256);
    const preferred = this.#contentOf(conflict.payload_sha256);
    await preferConflict(this.#db, conflict.seq, { former, preferred });
  }

  async #removeReport(which: number): Promise<void> {
    const report = await this.#pick('report', which);
    if (report === undefined) return;
    const [conflict] = await this.#db
      .selectFrom('conflict')
      .selectAll()
      .where('report_seq', '=', report.seq)
      .orderBy('seq')
      .execute();
    const next =
      conflict === undefined
        ? null
        : { seq: conflict.seq, content: this.#contentOf(conflict.payload_sha256) };
    const former = this.#contentOf(report.payload_sha256);
    const { id, payload_sha256: payloadSha256 } = report;
    await removeReport(this.#db, { id, payloadSha256, former, next }, NOW);
  }

  async #pick<T extends 'report' | 'conflict'>(table: T, which: number) {
    const rows = await this.#db
      .selectFrom(table as 'report' | 'conflict')
      .selectAll()
      .execute();
    return rows[which % Math.max(1, rows.length)] as never as T extends 'report'
      ? { seq: number; id: string; payload_sha256: string }
      : { seq: number; report_seq: number; payload_sha256: string };
  }

  #contentOf(payloadSha256: string): AggregateReport {
    return this.contents.get(payloadSha256) as AggregateReport;
  }
}

/** What each address sent on each day, added up from the reports' present contents. */
async function holdSources(db: Db, world: World): Promise<void> {
  const right = new Map<string, DaySources>();
  for (const report of await db.selectFrom('report').selectAll().execute()) {
    const { sources = [] } = world.contents.get(report.payload_sha256) as AggregateReport;
    const key = `${report.domain_id} ${report.begin_date.slice(0, 10)}`;
    const day: DaySources = right.get(key) ?? new Map();
    addReport(day, { reporter: report.reporter_org, sources });
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
          const world = new World(store);
          let before = await readVersions(db);
          for (const taken of steps) {
            await world.take(taken);
            const after = await readVersions(db);
            for (const [list, { version, shown }] of before) {
              const now = after.get(list);
              const what = `version of ${list} after ${taken.kind}`;
              expect(now?.version !== version, what).toBe(now?.shown !== shown);
            }
            before = after;
            expect(await listMiscounts(db)).toEqual({});
          }
          await holdSources(db, world);
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
    const report = ${JSON.stringify(GENUINE)};
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
  let [former, preferred] = [FORGED, GENUINE];
  for (let i = 0; !isOver; i++) {
    await preferConflict(db, 1, { former, preferred });
    [former, preferred] = [preferred, former];
    const brief = aContent('brief', { reportId: `brief ${i}`, sources: [from('192.0.2.7', 1)] });
    await receive(db, [brief]);
    const id = toReportId(brief);
    await removeReport(db, { ...toRemove(brief), id }, NOW);
  }
  await ingesting;
  await removeReport(db, { ...toRemove(former), next: { seq: 1, content: preferred } }, NOW);
  expect(await listMiscounts(db)).toEqual({});
  expect(await dayOf(db)).toMatchObject([{ reports: 61 }]);
  const [own, ...others] = await sourcesOf(db);
  const total = [own, ...others].reduce((sum, source) => sum + (source?.messages ?? 0), 0);
  expect(total).toBe((await dayOf(db))[0]?.messages);
  await store.close();
});
