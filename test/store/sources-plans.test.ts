import { CompiledQuery } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type BoundQuery, toText, toValues } from '../../src/store/connection/prepared.ts';
import { allSources, failingSources } from '../../src/store/sources/list.ts';
import { daysOfSource } from '../../src/store/sources/source.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const range = { domainId: 'd', from: '2026-03-01', to: '2026-03-30' };
const page = { ...range, limit: 50, offset: 0 };

/** How SQLite reads the tables of a query. PostgreSQL chooses by what it has counted, so its plans say less. */
async function readPlan({ compile, params }: BoundQuery<unknown>): Promise<string[]> {
  const { db } = await aStore();
  return await db.write(async (tx) => {
    const text = toText(tx, compile);
    const query = CompiledQuery.raw(`explain query plan ${text.sql}`, toValues(text, params));
    const { rows } = await tx.executeQuery<{ detail: string }>(query);
    return rows.map(({ detail }) => detail).filter((detail) => detail.startsWith('SEARCH'));
  });
}

describe.skipIf(IS_POSTGRES)('the work does not grow with what is outside the range', () => {
  test.each([
    ['all sources', allSources(page)],
    ['failing sources', failingSources(page)],
  ])('the list of %s reads the rows of its days, once', async (_, query) => {
    expect(await readPlan(query)).toEqual([
      'SEARCH domain_source_ip USING PRIMARY KEY (domain_id=? AND day>? AND day<?)',
    ]);
  });

  test('a source is read by its whole key, for each day of the range', async () => {
    expect(await readPlan(daysOfSource({ ...range, address: '192.0.2.1' }))).toEqual([
      expect.stringMatching(/^SEARCH data USING .*\(domain_id=\? AND day>\? AND day<\?\)$/),
      'SEARCH source USING PRIMARY KEY (domain_id=? AND day=? AND address=?)',
    ]);
  });
});
