import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aBareAccount } from '../../support/builders.ts';
import { caseCount } from '../../support/counts.ts';
import { aStore } from '../../support/store.ts';
import { aPlainDomain } from './domains.ts';
import { toExpected } from './model.ts';
import { answer } from './store.ts';

const COUNT = Number(
  process.env['PLAIN_DOMAINS'] ?? caseCount({ few: 150, full: 2_000, fullOnPostgres: 150 }),
);
const SEED = Number(process.env['PLAIN_SEED'] ?? 20260315);

test('random domains are answered as the plain model says: none is ready while a sender of the owner’s fails', async () => {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const kinds = new Set<string>();
  for (const domain of fc.sample(aPlainDomain, { numRuns: COUNT, seed: SEED })) {
    const wanted = toExpected(domain);
    if (wanted === undefined) continue;
    const { answer: found, step } = await answer(store, accountId, domain);
    expect({ answer: found, step: step.kind }, JSON.stringify(domain)).toEqual(wanted);
    kinds.add(`${wanted.answer} ${wanted.step}`);
  }
  // Otherwise they show little.
  expect(kinds.size).toBeGreaterThanOrEqual(5);
}, 3_600_000);
