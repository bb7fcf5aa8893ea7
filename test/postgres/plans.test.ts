import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { aReport, receive } from '../support/builders.ts';
import { copyDatabase, runOn } from '../support/postgres-stores.ts';

const REPORTS = 400;
const OF_EACH = 50;

const READ = `
  select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
  from pg_stat_user_tables where relname in ('report', 'document', 'domain_day', 'domain')`;

test('storing a report reads as few rows of a domain with 400 reports as of a new one, in tables that were never analyzed', async () => {
  // A copy that no other test had: the server counts rows, and may analyze tables, for as long as a database exists.
  const url = await copyDatabase('postgres');
  const { db, close } = await openStore(url);
  for (let from = 0; from < REPORTS; from += OF_EACH)
    await receive(
      db,
      Array.from({ length: OF_EACH }, () => aReport()),
    );
  // A connection gives its counts to the server before it ends.
  await close();
  expect(await runOn(url, 'select count(*)::int as reports from report')).toEqual([
    { reports: REPORTS },
  ]);
  const read = await runOn(url, READ);
  expect(read).toHaveLength(4);
  for (const { name, rows } of read)
    expect(Number(rows) / REPORTS, `rows of ${name} for a report`).toBeLessThan(5);
});
