import { expect, test } from 'vitest';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { daysOf } from '../../src/store/sources/days.ts';
import { allNames, namesOf } from '../../src/store/sources/names.ts';
import { explain } from '../support/plans.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

/** The steps of SQLite's plan for a query. */
async function planOf(query: BoundQuery<unknown>): Promise<readonly string[]> {
  const { db } = await aStore();
  return await db.write((tx) => explain(tx, query));
}

test.skipIf(IS_POSTGRES)('the sources of a range are read from its days only', async () => {
  const plan = await planOf(daysOf({ domainId: 'a', from: '2026-02-13', to: '2026-03-14' }));
  expect(plan).toEqual([
    expect.stringMatching(/^SEARCH .*\(domain_id=\? AND day>\? AND day<\?\)$/),
  ]);
});

test.skipIf(IS_POSTGRES)('names of addresses are found by their key', async () => {
  const plan = await planOf(namesOf({ domainId: 'a', addresses: '["192.0.2.1"]' }));
  expect(plan[0]).toMatch(/^SEARCH source_name USING .*\(domain_id=\? AND address=\?\)$/);
  expect(await planOf(allNames({ domainId: 'a' }))).toEqual([
    expect.stringMatching(/^SEARCH source_name USING .*\(domain_id=\?\)$/),
  ]);
});
