/** Runs after all other tests (vitest.config.ts) and checks that they exercised every part of the contract. */
import { describe, expect, test } from 'vitest';
import { KINDS, listDocumented, readExercised } from './support/contract-coverage.ts';

const exercised = readExercised();
if (exercised.size === 0)
  throw new Error('Nothing was exercised yet: run all tests with npm test.');

const kinds = KINDS.map((kind) => {
  const items = listDocumented().filter((item) => item.startsWith(`${kind} `));
  return { kind, items, count: items.filter((item) => exercised.has(item)).length };
});
const figures = kinds.map(({ kind, items, count }) => `${kind} ${count}/${items.length}`);
process.stdout.write(`openapi/v1.yaml, exercised: ${figures.join(', ')}\n`);

describe.each(kinds)('every $kind of the contract is exercised by a test', ({ items }) => {
  test.each(items)('%s', (item) => {
    expect(exercised).toContain(item);
  });
});
