import { describe, expect, test } from 'vitest';
import { newestReports } from '../../src/store/alerts/receipts.ts';
import { daysOf } from '../../src/store/days/day-sources.ts';
import { allNames } from '../../src/store/days/names.ts';
import { latestDays } from '../../src/store/days/views.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { explainOfMany } from '../support/plans.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const UUID = '00000000-0000-4000-8000-000000000000';

/** The steps of the plan for a query. */
const planOf = async (query: BoundQuery<unknown>) =>
  await explainOfMany((await aStore()).db, query);

test.skipIf(IS_POSTGRES)('the sources of a range are read from its days only', async () => {
  const plan = await planOf(
    daysOf({ domainId: 'a', from: '2026-02-13', to: '2026-03-14', view: 'all' }),
  );
  expect(plan).toEqual([
    expect.stringMatching(/^SEARCH .*\(domain_id=\? AND day>\? AND day<\?\)$/),
  ]);
});

test.skipIf(IS_POSTGRES)('names of addresses are found by their domain', async () => {
  expect(await planOf(allNames({ domainId: 'a' }))).toEqual([
    expect.stringMatching(/^SEARCH source_name USING .*\(domain_id=\?\)$/),
  ]);
});

describe('what alerts ask of the rows', () => {
  test('the latest days are read in the order of their key', async () => {
    const days = { domainId: UUID, from: '2026-01-01', to: '2026-03-14', limit: 43 };
    const plan = await planOf(latestDays({ ...days, view: 'all' }));
    expect(plan.join('\n')).toMatch(/domain_day/);
    expect(plan.join('\n')).not.toMatch(/SCAN|Seq Scan|TEMP B-TREE|Sort/);
  });

  test('the newest reports are read in the order of their arrival', async ({ skip }) => {
    skip(IS_CITUS);
    const plan = await planOf(newestReports({ domainId: UUID, before: 9 }));
    expect(plan.join('\n')).toMatch(/report_arrival/);
    expect(plan.join('\n')).not.toMatch(/Sort|TEMP B-TREE/);
  });
});
