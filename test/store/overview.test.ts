import { expect, test } from 'vitest';
import { findDataDays } from '../../src/store/accounts/domain-reports.ts';
import { readDomain, readOverview } from '../../src/store/accounts/overview.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { type Plan, type Reader, runPlan } from '../../src/store/engine/reader.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const WANTED = { since: '2026-02-01', alertLimit: 10, limit: 25, offset: 0 };
const RANGE = { from: '2026-02-13', to: '2026-03-14' };

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
      ...(await findQueries((asked) => readOverview(asked, 'a', WANTED))),
      ...(await findQueries((asked) => readDomain(asked, scope, { ...RANGE, window: RANGE }))),
      ...(await findQueries((asked) => findDataDays(asked, scope))),
    ];
    expect(queries).toHaveLength(16);
    for (const query of queries) {
      const explained: BoundQuery<{ detail: string }> = {
        params: query.params,
        compile: (db) => {
          const { sql, slots } = query.compile(db);
          return { slots, isColumn: false, sql: `explain query plan ${sql}` };
        },
      };
      const steps = await reader.readAll(explained);
      const scans = steps.map(({ detail }) => detail).filter((detail) => /^SCAN/.test(detail));
      expect(scans.filter((detail) => detail !== 'SCAN page')).toEqual([]);
    }
  },
);

test('the first and the newest day are those of one domain of the account', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: 'example.com' });
  const none = { oldest: null, newest: null };
  expect(await findDataDays(reader, { accountId, domainId })).toEqual(none);
  const days = ['2026-03-14', '2024-06-12', '2026-01-01'];
  await receive(
    db,
    days.map((day) => aReport({ begin: `${day}T00:00:00Z` })),
  );
  const known = { oldest: '2024-06-12', newest: '2026-03-14' };
  expect(await findDataDays(reader, { accountId, domainId })).toEqual(known);
  const other = await aBareAccount(db);
  expect(await findDataDays(reader, { accountId: other, domainId })).toEqual(none);
  const { spans } = await readOverview(reader, accountId, WANTED);
  expect(spans).toEqual([{ domain_id: domainId, ...known }]);
});
