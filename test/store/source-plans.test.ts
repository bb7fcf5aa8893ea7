import { expect, onTestFinished, test } from 'vitest';
import type { BoundQuery } from '../../src/store/connection/prepared.ts';
import { unnamed } from '../../src/store/sources/names.ts';
import { firstDay, lastDay } from '../../src/store/sources/span.ts';
import { IS_POSTGRES, openTestStore } from '../support/store.ts';

/** The steps of SQLite's plan for a query. */
async function explain(query: BoundQuery<unknown>): Promise<string[]> {
  const { reader, close } = await openTestStore();
  onTestFinished(close);
  const [rows] = await reader.readTogether({
    params: query.params,
    compile: (db) => {
      const text = query.compile(db);
      return { ...text, sql: `explain query plan ${text.sql}` };
    },
  });
  return (rows as { detail: string }[]).map(({ detail }) => detail);
}

const place = { domainId: 'a', address: '192.0.2.1' };

test.skipIf(IS_POSTGRES)('names are missed by the key of a range of days', async () => {
  const now = '2026-03-15T00:00:00Z';
  const plan = await explain(unnamed({ domainId: 'a', since: '2026-02-13', now, limit: 50 }));
  const reads = plan.filter((step) => /SCAN|SEARCH/.test(step)).join('\n');
  expect(reads).toMatch(/SEARCH source USING .*\(domain_id=\? AND day>\?\)/);
  expect(reads).toMatch(/SEARCH known USING .*\(domain_id=\? AND address=\?\)/);
  expect(reads).not.toContain('SCAN');
});

test.skipIf(IS_POSTGRES).each([
  ['first', firstDay(place)],
  ['last', lastDay(place)],
])('the %s day of an address is one look into an index', async (_which, query) => {
  const plan = await explain(query);
  expect(plan).toEqual([expect.stringMatching(/INDEX \w+ \(domain_id=\? AND address=\?\)$/)]);
});
