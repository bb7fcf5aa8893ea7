import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { QUERIES, reportersOf, SORTED } from '../../src/store/reports/report-list-queries.ts';
import { aBareAccount, aDomain, aReport, receive, UNKNOWN_ID } from '../support/builders.ts';
import { explainOfMany } from '../support/plans.ts';
import { IS_POSTGRES, openTestStore } from '../support/store.ts';

let store: Store;

beforeAll(async () => {
  store = await openTestStore();
  const { name } = await aDomain(store.db, await aBareAccount(store.db));
  await receive(
    store.db,
    Array.from({ length: 20 }, () => aReport({ domain: name })),
  );
});
afterAll(() => store.close());

const BOUNDS = {
  ...{ domainId: UNKNOWN_ID, sinceBegin: '2026-01-01T00:00:00Z', sinceSeq: 0 },
  ...{ untilBegin: '2026-01-31T23:59:59Z', untilSeq: 9_007_199_254_740_991 },
};
const WANTED = { ...BOUNDS, limit: 51 };

const planOf = async (query: BoundQuery<unknown>) =>
  (await explainOfMany(store.db, query)).join('\n');

const ANY = { isAnyReporter: 1, reporter: null, sender: null, pattern: '%' } as const;

test.each([
  ['a page', QUERIES.desc.all(WANTED)],
  ['a page of newer ones', QUERIES.asc.all(WANTED)],
  [
    'a page of a reporter',
    QUERIES.desc.matching({ ...WANTED, ...ANY, isAnyReporter: 0, reporter: 'R' }),
  ],
  [
    'a page without a reporter’s name',
    QUERIES.desc.matching({ ...WANTED, ...ANY, isAnyReporter: 0 }),
  ],
  ['a page of a sender', QUERIES.desc.matching({ ...WANTED, ...ANY, sender: 'file' })],
  ['a page of a search', QUERIES.desc.matching({ ...WANTED, ...ANY, pattern: '%a%' })],
  ['a sorted page', SORTED.rate.asc({ ...WANTED, ...ANY, skip: 50 })],
  ['where the reports that are looked at end', QUERIES.desc.lastSearched(BOUNDS)],
  ['the reporters', reportersOf(BOUNDS)],
])('%s is read from the index of the list, from the range only', async (_what, query) => {
  const plan = await planOf(query as BoundQuery<unknown>);
  if (IS_POSTGRES) {
    expect(plan).toMatch(/Index (Only )?Scan (Backward )?using report_key on report/);
    expect(plan).toMatch(
      /Index Cond: .*domain_seq = .*ROW\(begin_date, seq\) > .*ROW\(begin_date, seq\) </,
    );
  } else {
    expect(plan).toMatch(
      /SEARCH report USING (COVERING )?INDEX report_list \(domain_seq=\? AND begin_date>\? AND begin_date<\?\)/,
    );
    expect(plan).not.toMatch(/SCAN report/);
  }
});
