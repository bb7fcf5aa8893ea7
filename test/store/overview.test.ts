import { expect, test } from 'vitest';
import { findDataDays } from '../../src/store/domains/domain-reports.ts';
import { readDomain } from '../../src/store/domains/overview.ts';
import { readDaysOf, readWorklist, sumsOfDomains } from '../../src/store/domains/worklist.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { type Plan, type Reader, runPlan } from '../../src/store/engine/reader.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const WANTED = { accountId: 'a', today: '2026-03-15', days: 30 };
const RANGE = { from: '2026-02-13', to: '2026-03-14' };

const OF_DOMAINS = { ids: '["d"]', view: 'all' as const, ...RANGE };

/** What a read asks, without answers. */
async function findQueries(read: (reader: Reader) => Promise<unknown>) {
  const asked: BoundQuery<unknown>[] = [];
  const reader = {
    readPlan: async (plan: () => Plan<unknown>) =>
      runPlan(plan(), (queries) => {
        asked.push(...queries);
        return queries.map(() => []);
      }),
    readAll: async (query: BoundQuery<unknown>) => {
      asked.push(query);
      return [];
    },
  } as unknown as Reader;
  await read(reader).catch(() => undefined);
  return asked;
}

test.skipIf(IS_POSTGRES)(
  'pages look up what they show: no table is read through, whatever lies outside the range',
  async () => {
    const { reader } = await aStore();
    const scope = { accountId: 'a', domainId: 'd' };
    const queries = [
      ...(await findQueries((asked) => readWorklist(asked, WANTED))),
      ...(await findQueries((asked) => readWorklist(asked, { ...WANTED, domainId: 'd' }))),

      ...(await findQueries((asked) =>
        readDaysOf(asked, [{ id: 'd', reporters: 'all' }], () => RANGE),
      )),
      ...(await findQueries((asked) =>
        asked.readAll(sumsOfDomains({ ...OF_DOMAINS, before: '2026-01-14' })),
      )),
      ...(await findQueries((asked) =>
        readDomain(asked, scope, { today: WANTED.today, ...RANGE }),
      )),
      ...(await findQueries((asked) => findDataDays(asked, scope, WANTED.today))),
    ];
    expect(queries).toHaveLength(16);
    for (const query of queries) {
      const explained: BoundQuery<{ detail: string }> = (db) => {
        const { sql, parameters } = query(db);
        return { sql: `explain query plan ${sql}`, parameters };
      };
      const steps = await reader.readAll(explained);
      const scans = steps.map(({ detail }) => detail).filter((detail) => /^SCAN/.test(detail));
      expect(scans.filter((detail) => !detail.startsWith('SCAN json_each '))).toEqual([]);
    }
  },
);

test('the first and the newest day are those of one domain of the account', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: 'example.com' });
  const none = { oldest: null, newest: null };
  expect(await findDataDays(reader, { accountId, domainId }, WANTED.today)).toEqual(none);
  const days = ['2026-03-14', '2024-06-12', '2026-01-01'];
  await receive(
    db,
    days.map((day) => aReport({ begin: `${day}T00:00:00Z` })),
  );
  const known = { oldest: '2024-06-12', newest: '2026-03-14' };
  expect(await findDataDays(reader, { accountId, domainId }, WANTED.today)).toEqual(known);
  const other = await aBareAccount(db);
  expect(await findDataDays(reader, { accountId: other, domainId }, WANTED.today)).toEqual(none);
  const { states, range } = await readWorklist(reader, { ...WANTED, accountId });
  expect(states).toMatchObject([{ id: domainId, ...known }]);
  expect(range).toEqual(RANGE);
});

test('a worklist adds up the days of each domain, and those before', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id } = await aDomain(db, accountId, { name: 'example.com' });
  const { id: other } = await aDomain(db, accountId, { name: 'huge.example' });
  await aDomain(db, await aBareAccount(db), { name: 'foreign.example' });
  const report = (day: string, totalMessages: number, domain = 'example.com') =>
    aReport({ begin: `${day}T00:00:00Z`, totalMessages, alignedMessages: 1, domain });
  const max = Number.MAX_SAFE_INTEGER;
  await receive(db, [
    ...[report('2026-03-14', 10), report('2026-02-13', 20), report('2026-02-12', 40)],
    ...[report('2026-01-14', 80), report('2026-01-13', 160)],
    ...[report('2026-03-13', max, 'huge.example'), report('2026-03-12', max, 'huge.example')],
    report('2026-03-15', 1, 'foreign.example'),
  ]);
  const { sums } = await readWorklist(reader, { ...WANTED, accountId });
  const byDomain = new Map(sums.map(({ domain_id, ...sum }) => [domain_id, sum]));
  expect(byDomain.get(id)).toEqual({
    ...{ messages: 30, aligned: 2, messagesBefore: 120, alignedBefore: 2, dataDays: 2 },
    ...{ asideReports: 0, asideMessages: 0, unproven: 0 },
  });
  expect(byDomain.get(other)).toMatchObject({ messages: max, aligned: 2, messagesBefore: 0 });
  expect(byDomain.size).toBe(2);
});
