import { expect, onTestFinished, test } from 'vitest';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { mostFailing } from '../../src/store/sources/failing.ts';
import { sourcesOf } from '../../src/store/sources/list.ts';
import { allNames, namesOf, unnamedAddresses } from '../../src/store/sources/names.ts';
import { statesOfYears } from '../../src/store/sources/periods.ts';
import { rankedSources } from '../../src/store/sources/ranked.ts';
import { daysOfSource, firstDay, lastDay } from '../../src/store/sources/source.ts';
import { IS_POSTGRES, openTestStore } from '../support/store.ts';

/** The steps of SQLite's plan for a query. */
async function explain(query: BoundQuery<unknown>): Promise<string[]> {
  const { reader, close } = await openTestStore();
  onTestFinished(close);
  const rows = await reader.readAll({
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
  const plan = await explain(
    unnamedAddresses({ domainId: 'a', since: '2026-02-13', now, limit: 50 }),
  );
  const reads = plan.filter((step) => /SCAN|SEARCH/.test(step)).join('\n');
  expect(reads).toMatch(/SEARCH source USING .*\(domain_id=\? AND day>\?\)/);
  expect(reads).toMatch(/SEARCH known USING .*\(domain_id=\? AND address=\?\)/);
  expect(reads).not.toContain('SCAN');
});

test.skipIf(IS_POSTGRES)(
  'the sources that fail most are found in the days of the range only',
  async () => {
    const range = { domainId: 'a', from: '2026-02-13', to: '2026-03-14' };
    const plan = await explain(mostFailing({ ...range, limit: 5 }));
    expect(plan.filter((step) => step.includes('domain_source_ip'))).toEqual([
      expect.stringMatching(/^SEARCH .*\(domain_id=\? AND day>\? AND day<\?\)$/),
    ]);
  },
);

test.skipIf(IS_POSTGRES)(
  'lists and pages of sources read the days and periods of their range only',
  async () => {
    const range = { domainId: 'a', from: '2026-02-13', to: '2026-03-14' };
    const parts = { days: '["2026-02-13"]', periods: '["2026-02-2"]' };
    const page = { domainId: 'a', ...parts, limit: 50, offset: 0 };
    const list = await explain(rankedSources({ ...page, failingOnly: 1, mark: 'unknown' }));
    expect(list.filter((step) => /domain_source_ip|source_sum/.test(step))).toEqual([
      expect.stringMatching(/^SEARCH .*\(domain_id=\? AND day=\?\)$/),
      expect.stringMatching(/^SEARCH .*\(domain_id=\? AND period=\?\)$/),
    ]);
    const some = { ...parts, domainId: 'a', addresses: '["192.0.2.1"]' };
    const ofPage = (await explain(sourcesOf(some))).filter((step) => step.includes('SEARCH'));
    expect(ofPage).toEqual([
      expect.stringMatching(/\(domain_id=\? AND day=\? AND address=\?\)$/),
      expect.stringMatching(/\(domain_id=\? AND period=\? AND address=\?\)$/),
    ]);
    const years = await explain(statesOfYears({ domainId: 'a', from: '2026', to: '2026~' }));
    expect(years).toEqual([
      expect.stringMatching(/^SEARCH .*\(domain_id=\? AND period>\? AND period<\?\)$/),
    ]);
    const ofMarks = list.filter((step) => step.includes('source_mark'));
    for (const step of ofMarks) expect(step).toMatch(/\(domain_id=\? AND address=\?\)$/);
    expect(ofMarks).not.toEqual([]);
    const plan = await explain(daysOfSource({ ...range, address: '192.0.2.1' }));
    expect(plan.filter((step) => step.includes('source '))).toEqual([
      expect.stringMatching(/^SEARCH source USING .*\(domain_id=\? AND day=\? AND address=\?\)$/),
    ]);
  },
);

test.skipIf(IS_POSTGRES)('names of addresses are found by their key', async () => {
  const plan = await explain(namesOf({ domainId: 'a', addresses: '["192.0.2.1"]' }));
  expect(plan[0]).toMatch(/^SEARCH source_name USING .*\(domain_id=\? AND address=\?\)$/);
  expect(await explain(allNames({ domainId: 'a' }))).toEqual([
    expect.stringMatching(/^SEARCH source_name USING .*\(domain_id=\?\)$/),
  ]);
});

test.skipIf(IS_POSTGRES).each([
  ['first', firstDay(place)],
  ['last', lastDay(place)],
])('the %s day of an address is one look into an index', async (_which, query) => {
  const plan = await explain(query);
  expect(plan).toEqual([expect.stringMatching(/INDEX \w+ \(domain_id=\? AND address=\?\)$/)]);
});
