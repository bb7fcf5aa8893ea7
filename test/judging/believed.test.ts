import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findUnnamed } from '../../src/dns/unnamed.ts';
import { addDays, type Day } from '../../src/domain/instant.ts';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { listSources as listSourcesOfApi } from '../../src/external/list-sources.ts';
import type { Given } from '../../src/external/operation.ts';
import { readEvidence } from '../../src/judging/evidence.ts';
import { findSenderNames } from '../../src/judging/sender-names.ts';
import { findLastDay, readSource } from '../../src/judging/source.ts';
import { readSources, type SourceQuery } from '../../src/judging/source-list.ts';
import type { ScopedQuery } from '../../src/judging/summed-range.ts';
import { findWeek } from '../../src/notify/mail/week.ts';
import { planState } from '../../src/store/days/believed.ts';
import { planNewestReport } from '../../src/store/domains/domain-of-account.ts';
import { findDataDays } from '../../src/store/domains/domain-reports.ts';
import { readDomain } from '../../src/store/domains/overview.ts';
import { readDaysOf, readWorklist } from '../../src/store/domains/worklist.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, receive } from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore, storesOfHistories } from '../support/store.ts';

const TODAY = '2026-03-15';
const RANGE = { from: '2026-02-10', to: TODAY };
const NAME = 'a.example';
const ADDRESSES = ['192.0.2.1', '192.0.2.2', '198.51.100.7', '2001:db8::1'];
const GOOGLE = 'google.com';

interface Sent {
  /** Days after today. */
  readonly day: number;
  readonly address: string;
  readonly count: number;
  readonly passes: boolean;
  readonly p: string | null;
  readonly by: 'file' | 'established' | 'nobody' | 'new' | 'disputed';
}

const SENDERS = {
  file: {},
  established: { authenticated: GOOGLE },
  nobody: { authenticated: '', claimed: ['nobody.example'] },
  new: { authenticated: 'stranger.example' },
  disputed: { authenticated: '', claimed: [GOOGLE] },
} as const;

const sent = (by: readonly Sent['by'][], day: fc.Arbitrary<number>, max: number) =>
  fc.record<Sent>({
    day,
    address: fc.constantFrom(...ADDRESSES),
    count: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max })),
    passes: fc.boolean(),
    p: fc.constantFrom('none', 'quarantine', 'reject', null),
    by: fc.constantFrom(...by),
  });

const lately = fc.integer({ min: -29, max: 0 });
const anyDay = fc.oneof(lately, fc.integer({ min: -800, max: 800 }));
const believed = sent(['file', 'established'], fc.integer({ min: -60, max: 0 }), 1_000);
const forged = sent(['nobody', 'new', 'disputed'], anyDay, 1e12);

/** A domain of an account, where a report about another domain of it has made an established reporter known. */
async function aWorld(store: Store) {
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: NAME });
  await aDomain(db, accountId, { name: 'known.example' });
  const known = aReportOf([aRecord({})], { domain: 'known.example' });
  await receive(db, [known], `${TODAY}T00:00:00Z`, SENDERS.established);
  let reports = 0;
  const send = async ({ day, address, count, passes, p, by }: Sent) => {
    const result = passes ? 'pass' : 'fail';
    const records: ReportRecord[] = [aRecord({ sourceIp: address, count, spf: result })];
    const begin = `${addDays(TODAY, day)}T00:00:00Z`;
    const report = { domain: NAME, reportId: `r${++reports}`, begin, policy: { p } };
    await receive(db, [aReportOf(records, report)], `${TODAY}T00:00:00Z`, SENDERS[by]);
  };
  return { store, scope: { accountId, domainId }, send };
}

type World = Awaited<ReturnType<typeof aWorld>>;

/** Everything that is read of days, by a reader that has kept no sums; and what is set aside. */
async function readAll({ store, scope }: World, today: Day = TODAY) {
  const reader = { ...store.reader };
  const { accountId, domainId } = scope;
  const page = { limit: 100, offset: 0 };
  const asked = { scope, range: RANGE, today };
  const {
    aside,
    reporters,
    counted: _,
    version: __,
    ...list
  } = await readSources(reader, {
    ...asked,
    ...page,
  });
  const { version: ___, aside: ____, ...evidence } = await readEvidence(reader, asked);
  const domain = await readDomain(reader, scope, { today, ...RANGE });
  expect(domain).toMatchObject({ reporters, aside });
  const { states, sums, range } = await readWorklist(reader, { accountId, today, days: 30 });
  // A domain whose rows are all set aside has sums of nothing.
  const addedUp = sums
    .map(({ asideReports, asideMessages, unproven, ...sum }) => sum)
    .filter(({ messages, messagesBefore }) => messages + messagesBefore > 0);
  const sources = [];
  for (const address of ADDRESSES)
    sources.push(
      await readSource(reader, { scope, address, range: RANGE, today }),
      await findLastDay(reader, { scope, address, today }),
    );
  const report = await reader.readPlan(function* () {
    return yield* planNewestReport(domainId);
  });
  const answers = {
    list,
    evidence,
    days: domain.days,
    steps: domain.steps,
    worklist: [states.map(({ last_report_at, ...state }) => state), addedUp, range],
    ofDomains: [...(await readDaysOf(reader, states, () => RANGE)).values()],
    sources,
    week: await findWeek(reader, { domainId, monday: '2026-03-16' }),
    dataDays: await findDataDays(reader, scope, today),
    names: await findUnnamed(reader, { domainId, now: `${today}T12:00:00Z`, limit: 10 }),
    senders: (await findSenderNames(reader, { domainId, name: 'example.com', today })).names,
    policy: report?.content,
    api: await readApi({ store, scope } as World, today),
  };
  return { reporters, aside, answers: withoutState(answers) };
}

/** The body of the API's list of sources, without what it sets aside. */
async function readApi({ store, scope }: World, today: Day) {
  const reader = { ...store.reader };
  const given = {
    now: () => new Date(today),
    findKnown: async () => [],
    days: {
      readSources: (query: SourceQuery) => readSources(reader, { ...query, today }),
      readEvidence: (query: ScopedQuery) => readEvidence(reader, { ...query, today }),
    },
  } as unknown as Given;
  const query = { from: RANGE.from, until: RANGE.to, order: 'failed', limit: 50, offset: 0 };
  const call = { accountId: scope.accountId, path: { domain_id: scope.domainId }, query };
  const found = await listSourcesOfApi(call as never, given).read(reader);
  return [found?.body.data, found?.body.total, found?.body.unlisted_messages];
}

/** Without versions, ids and counted days, which are not read of days, and the view, which two properties compare apart. */
function withoutState(answers: object): unknown {
  const left = new Set(['version', 'counted', 'id', 'domain_id', 'reporters', 'alerts_version']);
  return JSON.parse(
    JSON.stringify(answers, (key, value) => {
      if (value instanceof Map) return [...value];
      return left.has(key) && !Array.isArray(value) ? undefined : value;
    }),
  );
}

/** What strangers state is not the domain's policy. */
const withoutPolicy = (answers: unknown): unknown => ({
  ...JSON.parse(JSON.stringify(answers), (_key, value) =>
    value?.name === NAME && 'statedOn' in value
      ? { ...value, policy: null, statedOn: null }
      : value,
  ),
  ...{ steps: [], policy: undefined },
});

const add = (a: number, b: number) => Math.min(a + b, Number.MAX_SAFE_INTEGER);

function sumOf(all: readonly Sent[], unproven = 0) {
  const inRange = all.filter(({ day }) => {
    const on = addDays(TODAY, day);
    return on >= RANGE.from && on <= RANGE.to;
  });
  const messages = inRange.map(({ count }) => count).reduce(add, 0);
  return { reports: inRange.length, messages, unproven };
}

const STORES = storesOfHistories({ few: [8, 2, 3], full: [80, 10, 40] });

test.each(STORES)(
  '$where: whatever is not believed changes nothing of a domain that has an established reporter but what is set aside',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(lately, believed, fc.array(believed, { maxLength: 6 })),
        fc.array(forged, { minLength: 1, maxLength: 8 }),
        async ([day, first, others], strangers) => {
          const store = await open();
          try {
            const world = await aWorld(store);
            for (const one of [{ ...first, day }, ...others]) await world.send(one);
            const before = await readAll(world);
            expect(before).toMatchObject({ reporters: 'established', aside: { reports: 0 } });
            for (const [i, one] of strangers.entries()) {
              await world.send(one);
              const after = await readAll(world);
              expect(after).toEqual({ ...before, aside: sumOf(strangers.slice(0, i + 1)) });
            }
            expect(await listMiscounts(store.db)).toEqual({});
          } finally {
            await store.close();
          }
        },
      ),
      { numRuns, seed: 41 },
    );
  },
  120_000,
);

test.each(STORES)(
  '$where: a domain without an established reporter counts all but what is disputed',
  async ({ open, count: numRuns }) => {
    const strangers = sent(['nobody', 'new'], anyDay, 1e12);
    const disputed = sent(['disputed'], anyDay, 1e12);
    await fc.assert(
      fc.asyncProperty(
        fc.array(strangers, { minLength: 1, maxLength: 6 }),
        fc.array(disputed, { maxLength: 3 }),
        async (counted, others) => {
          const [store, right] = [await open(), await open()];
          try {
            const [world, files] = [await aWorld(store), await aWorld(right)];
            for (const one of counted) {
              await world.send(one);
              await files.send({ ...one, by: 'file' });
            }
            for (const one of others) await world.send(one);
            const { answers } = await readAll(files);
            const found = await readAll(world);
            const aside = sumOf(others, sumOf(counted).reports);
            expect(found).toEqual({ reporters: 'all', aside, answers: withoutPolicy(answers) });
          } finally {
            await store.close();
            await right.close();
          }
        },
      ),
      { numRuns, seed: 42 },
    );
  },
  120_000,
);

const SOME: Sent = {
  day: 0,
  address: '192.0.2.1',
  count: 10,
  passes: true,
  p: 'none',
  by: 'established',
};

test('one forged mail with 33 million passing messages changes no figure', async () => {
  const world = await aWorld(await aStore());
  for (let day = -29; day <= 0; day += 1) {
    await world.send({ ...SOME, day, count: 800 });
    await world.send({ ...SOME, day, count: 200, passes: false, address: '192.0.2.2' });
  }
  const before = await readAll(world);
  for (let day = -29; day <= 0; day += 1)
    await world.send({ ...SOME, day, count: 1_100_000, p: 'reject', by: 'nobody' });
  const aside = { reports: 30, messages: 33_000_000, unproven: 0 };
  expect(await readAll(world)).toEqual({ ...before, aside });
});

test('what strangers alone state is no step of the policy in a chart', async () => {
  const readSteps = async (by: Sent['by']) => {
    const { store, scope, send } = await aWorld(await aStore());
    for (let day = -9; day <= 0; day += 1)
      await send({ ...SOME, day, p: day < -4 ? 'none' : 'reject', by });
    return (await readDomain(store.reader, scope, { today: TODAY, ...RANGE })).steps.length;
  };
  expect([await readSteps('file'), await readSteps('nobody'), await readSteps('new')]).toEqual([
    1, 0, 0,
  ]);
});

test('thirty days after the last report of an established reporter all count, and a file ends that', async () => {
  const world = await aWorld(await aStore());
  await world.send({ ...SOME, day: -20 });
  await world.send({ ...SOME, day: -10, by: 'nobody' });
  const { reader } = world.store;
  const { domainId } = world.scope;
  const find = async (days: number) =>
    (await reader.readPlan(() => planState({ domainId, today: addDays(TODAY, days) }))).reporters;
  expect([await find(0), await find(10), await find(11)]).toEqual([
    'established',
    'established',
    'all',
  ]);
  expect((await readAll(world, addDays(TODAY, 11))).aside.reports).toBe(0);
  await world.send({ ...SOME, day: -15, by: 'file' });
  expect(await find(11)).toBe('established');
});

test('a report of an established reporter from the future makes nobody established', async () => {
  const world = await aWorld(await aStore());
  await world.send({ ...SOME, day: 2 });
  expect((await readAll(world)).reporters).toBe('all');
  await world.send({ ...SOME, day: 1 });
  expect((await readAll(world)).reporters).toBe('established');
});

test('a source’s page knows on how many days it may have sent more than is kept', async () => {
  const { store, scope, send } = await aWorld(await aStore());
  await send({ ...SOME, day: -1 });
  const many = Array.from({ length: 1_001 }, (_, i) =>
    aRecord({ sourceIp: `198.51.${100 + (i >> 8)}.${i & 255}`, count: i === 0 ? 1 : 2 }),
  );
  await receive(store.db, [aReportOf(many, { domain: NAME, begin: `${TODAY}T00:00:00Z` })]);
  const asked = { scope, range: RANGE, today: TODAY };
  const smallest = await readSource(store.reader, { ...asked, address: '198.51.100.0' });
  expect([smallest.days, smallest.cutDays]).toEqual([[], 1]);
  const list = await readSources(store.reader, {
    ...{ ...asked, failingOnly: false, limit: 1, offset: 0 },
  });
  expect([list.total, list.unlisted]).toEqual([1_001, 1]);
});

test('of a day with more than 100,000 records the largest reports are counted', async () => {
  const { store, scope } = await aWorld(await aStore());
  const begin = `${TODAY}T00:00:00Z`;
  const small = Array.from({ length: 11 }, () =>
    aReportOf(
      Array.from({ length: 10_000 }, () => aRecord({ sourceIp: '192.0.2.1', count: 1 })),
      { domain: NAME, begin },
    ),
  );
  await receive(store.db, small);
  const large = aReportOf([aRecord({ sourceIp: '192.0.2.2', count: 20_000 })], {
    ...{ domain: NAME, begin: `${TODAY}T12:00:00Z` },
  });
  await receive(store.db, [large]);
  const asked = { scope, range: RANGE, today: TODAY };
  const page = { order: 'messages' as const, limit: 10, offset: 0 };
  const { messages, sources, unlisted } = await readSources(store.reader, { ...asked, ...page });
  expect([messages, unlisted]).toEqual([130_000, 10_000]);
  expect(sources.map(({ address, messages }) => [address, messages])).toEqual([
    ['192.0.2.1', 100_000],
    ['192.0.2.2', 20_000],
  ]);
});
