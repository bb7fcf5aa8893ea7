import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { addDays, type Day, daysBetween } from '../../src/domain/instant.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { removeReport } from '../../src/store/corrections/corrections.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { readSources } from '../../src/store/sources/list.ts';
import { planCover } from '../../src/store/sources/periods.ts';
import { sumShard } from '../../src/store/sources/sum-shard.ts';
import { SHARDS } from '../../src/store/work/shards.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReport,
  aReportOf,
  NOW,
  receive,
} from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { holdLists, sumSome } from '../support/source-lists.ts';
import { aDatabase, aStore, storesOfHistories } from '../support/store.ts';

const FIRST = '2025-11-25';
const day = fc.nat(80).map((days) => addDays(FIRST, days));
const report = fc.record({
  domain: fc.constantFrom('a.example', 'b.example'),
  day,
  from: fc.nat(3),
  messages: fc.nat(50),
});
type Sent = typeof report extends fc.Arbitrary<infer S> ? S : never;

const step = fc.record({
  reports: fc.array(report, { maxLength: 6 }),
  range: fc.tuple(day, day).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a })),
  every: fc.integer({ min: 1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Three addresses in a row, of which the first fails. */
function toReport({ domain, day, from, messages }: Sent) {
  const sources = [0, 1, 2].map((i) => ({
    address: `192.0.2.${from + i}`,
    messages,
    aligned: i === 0 ? 0 : messages,
    dkimAligned: i === 1 ? messages : 0,
    spfAligned: i === 2 ? messages : 0,
  }));
  return { ...aReport({ domain, begin: `${day}T00:00:00Z`, totalMessages: messages }), sources };
}

async function take(store: Store, { reports, range, every }: Step): Promise<void> {
  await receive(store.db, reports.map(toReport));
  await holdLists(store, range);
  await sumSome(store, (i) => i % every === 0);
}

test.each(storesOfHistories({ few: [3, 1, 1], full: [300, 10, 40] }))(
  '$where: whatever is received and summed in between, a list is what its days add up to',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 6, size: 'max' }),
        async (steps) => {
          const store = await open();
          try {
            const accountId = await aBareAccount(store.db);
            for (const name of ['a.example', 'b.example'])
              await aDomain(store.db, accountId, { name });
            for (const taken of steps) await take(store, taken);
            for (const days of [0, 10, 40])
              await holdLists(store, { from: addDays(FIRST, days), to: addDays(FIRST, 80) });
          } finally {
            await store.close();
          }
        },
      ),
      { numRuns },
    );
  },
  120_000,
);

const TODAY = new Date('2026-04-04T12:00:00Z');

/** A domain with 5 addresses on each day from one to the end of March. */
async function aDomainSince(
  store: Store,
  first: Day,
  {
    accountId,
    name = 'example.com',
  }: { readonly accountId: string | null; readonly name?: string },
): Promise<string> {
  const sources = Array.from({ length: 5 }, (_, i) => ({
    address: `198.51.100.${i}`,
    messages: 2,
    aligned: 1,
  }));
  const reports = Array.from({ length: daysBetween(first, '2026-04-01') }, (_, i) => {
    const begin = `${addDays(first, i)}T00:00:00Z`;
    return { ...aReport({ domain: name, begin, totalMessages: 10 }), sources };
  });
  if (accountId !== null) await aDomain(store.db, accountId, { name });
  await receive(store.db, reports);
  const row = store.db.selectFrom('domain').select('id').where('name', '=', name);
  return (await row.executeTakeFirstOrThrow()).id;
}

/** A third of a month, and three of them, are worth sums. */
const limits = { minRows: 10, maxRows: 60, minRowsOfAddress: 2 };

async function work(store: Store, { now = TODAY, mayGoOn = async () => true } = {}) {
  const errors: unknown[] = [];
  const given = {
    store,
    limits,
    now: () => now,
    logError: (error: unknown) => void errors.push(error),
  };
  const { signal } = new AbortController();
  const ends: boolean[] = [];
  for (const shard of SHARDS) ends.push(await sumShard(given, { shard, signal, mayGoOn }));
  return { errors, isDone: ends.every(Boolean) };
}

async function statesOf(db: Db, domainId: string): Promise<Record<string, string>> {
  const rows = await db
    .selectFrom('source_period')
    .select(['period', 'state'])
    .where('domain_id', '=', domainId)
    .orderBy('period')
    .execute();
  return Object.fromEntries(rows.map(({ period, state }) => [period, state]));
}

test('the job sums what is over for some days, and a change is summed again', async () => {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const domainId = await aDomainSince(store, '2026-02-10', { accountId });
  const unclaimed = await aDomainSince(store, '2026-03-20', {
    accountId: null,
    name: 'unclaimed.example',
  });
  const sumsOf = async (at: string) => {
    expect(await work(store, { now: new Date(at) })).toEqual({ errors: [], isDone: true });
    return await statesOf(store.db, domainId);
  };
  const [summed, stale] = ['summed', 'stale'];
  const months = { '2026-02': summed };
  const thirds = Object.fromEntries(
    ['02-1', '02-2', '03-0', '03-1', '03-2'].map((third) => [`2026-${third}`, summed]),
  );
  // March ended three days before.
  expect(await sumsOf('2026-04-03T23:59:59Z')).toEqual({
    ...{ ...months, ...thirds, '2026-03-2': stale },
    ...{ '2026-03': stale, '2026-Q1': stale },
  });
  const all = { ...months, ...thirds, '2026-03': summed, '2026-Q1': summed };
  expect(await sumsOf('2026-04-04T00:00:00Z')).toEqual(all);
  await holdLists(store, { from: '2026-01-01', to: '2026-03-31' });
  expect(new Set(Object.values(await statesOf(store.db, unclaimed)))).toEqual(new Set([stale]));
  const sources = [{ address: '198.51.100.1', messages: 10, aligned: 7 }];
  await receive(store.db, [{ ...aReport({ begin: '2026-02-10T00:00:00Z' }), sources }]);
  expect(await statesOf(store.db, domainId)).toEqual({ ...all, '2026-02-1': stale });
  await holdLists(store, { from: '2026-01-05', to: '2026-03-31' });
  expect(await sumsOf('2026-04-04T00:00:00Z')).toEqual(all);
  await holdLists(store, { from: '2026-01-05', to: '2026-03-31' });
});

test('a list has what a correction subtracted', async () => {
  const store = await aStore();
  const { db } = store;
  const { id: domainId } = await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const records = [aRecord({ sourceIp: '192.0.2.1', count: 4, spf: 'pass' })];
  const reports = [1, 2, 3].map((day) =>
    aReportOf(records, { begin: `2026-01-1${day}T00:00:00Z` }),
  );
  await receive(db, reports);
  const range = { from: '2026-01-01', to: '2026-03-31' };
  const [former] = reports as [AggregateReport];
  const sumAll = async () => {
    await sumSome(store, () => true);
    await sumSome(store, () => true);
    expect(Object.values(await statesOf(db, domainId))).toEqual(Array(3).fill('summed'));
    await holdLists(store, range);
  };
  await sumAll();
  const { payloadSha256 } = former;
  await removeReport(db, { id: toReportId(former), payloadSha256, former, next: null }, NOW);
  await holdLists(store, range);
});

test('a list of sums above 2^53 is the same before and after', async () => {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
  const messages = Number.MAX_SAFE_INTEGER;
  const sources = [
    { address: '192.0.2.1', messages, aligned: messages - 1_000 },
    { address: '192.0.2.2', messages, aligned: messages },
  ];
  const reports = ['01', '02', '03'].map((day) => ({
    ...{ ...aReport({ begin: `2026-01-${day}T00:00:00Z`, totalMessages: messages }), sources },
  }));
  await receive(store.db, reports);
  const read = () =>
    readSources(
      store.reader,
      { accountId, domainId },
      { range: { from: '2026-01-01', to: '2026-01-31' }, failingOnly: true, limit: 9, offset: 0 },
    );
  const before = await read();
  expect(before).toMatchObject({ total: 1, sources: [{ messages, aligned: messages }] });
  await sumSome(store, () => true);
  await sumSome(store, () => true);
  expect(await statesOf(store.db, domainId)).toMatchObject({ '2026-01': 'summed' });
  expect(await read()).toEqual(before);
});

test('the list of a summed quarter reads no day of it', async () => {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const domainId = await aDomainSince(store, '2026-02-20', { accountId });
  await work(store);
  const range = { from: '2025-12-30', to: '2026-04-01' };
  const { periods, days } = await store.reader.readPlan(() => planCover(domainId, range));
  expect(periods).toEqual(['2026-Q1']);
  expect(days).toEqual(['2025-12-30', '2025-12-31', '2026-04-01']);
});

test('a job whose turn ends stops between two periods, and an error with one domain leaves the others', async () => {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const ids = [];
  for (const name of ['a.example', 'b.example'])
    ids.push(await aDomainSince(store, '2026-03-10', { accountId, name }));
  let left = 1;
  const ended = await work(store, { mayGoOn: async () => left-- > 0 });
  expect(ended).toEqual({ errors: [], isDone: false });
  const summed = store.db.selectFrom('source_period').where('state', '<>', 'stale');
  expect(await summed.select('period').execute()).toHaveLength(1);
  let asked = 0;
  const mayGoOn = async () => {
    asked += 1;
    if (asked === 1) throw new Error('of one domain');
    return true;
  };
  expect(await work(store, { mayGoOn })).toEqual({
    errors: [new Error('of one domain')],
    isDone: true,
  });
  const states = await Promise.all(ids.map((id) => statesOf(store.db, id)));
  expect(states.map((found) => found['2026-03-2']).sort()).toEqual(['stale', 'summed']);
});

test('addresses of which each sends once are not summed', async () => {
  const store = await aStore();
  const domain = await aDomain(store.db, await aBareAccount(store.db), { name: 'example.com' });
  const reports = Array.from({ length: 10 }, (_, day) => {
    const sources = Array.from({ length: 60 }, (_, i) => ({
      ...{ address: `198.51.${day}.${i}`, messages: 1, aligned: 0 },
    }));
    return { ...aReport({ begin: `2026-01-1${day}T00:00:00Z`, totalMessages: 60 }), sources };
  });
  await receive(store.db, reports);
  await work(store);
  expect(await statesOf(store.db, domain.id)).toMatchObject({ '2026-01-1': 'days' });
  expect(await store.db.selectFrom('source_sum').selectAll().execute()).toEqual([]);
});

test('a process that receives reports while another sums loses nothing', async () => {
  const database = await aDatabase();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await aDomain(store.db, await aBareAccount(store.db), { name: 'a.example' });
  let isReceived = false;
  const receiving = runTogether(
    1,
    database,
    `import { insertReceived } from 'src/store/documents/documents.ts';
    import { openStore } from 'src/store/engine/open.ts';
    import { keepOriginal } from 'src/store/inputs/originals.ts';
    const report = ${JSON.stringify(toReport({ domain: 'a.example', day: '2026-01-10', from: 0, messages: 1 }))};
    const { db, close } = await openStore(process.argv[1]);
    for (let i = 0; i < 40; i++) {
      const begin = report.metadata.begin + (i % 20) * 86400;
      const metadata = { ...report.metadata, begin, end: begin + 86399, reportId: 'number ' + i };
      const original = await keepOriginal(db, { name: 'x', bytes: Buffer.from('file ' + i) }, '2026-03-01T00:00:00Z');
      const document = { original, ordinal: 0, member: [], content: { ...report, metadata } };
      await insertReceived(db, [document], '2026-03-01T00:00:00Z');
    }
    await close();`,
  ).finally(() => {
    isReceived = true;
  });
  const range = { from: '2026-01-01', to: '2026-01-31' };
  while (!isReceived) {
    await sumSome(store, () => true);
    // Without it the end of the other process is never noticed.
    await setImmediate();
  }
  await receiving;
  await holdLists(store, range);
  const reports = store.db.selectFrom('domain_day').select(({ fn }) => fn.sum('reports').as('all'));
  expect(Number((await reports.executeTakeFirstOrThrow()).all)).toBe(40);
});
