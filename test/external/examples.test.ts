import { expect, test } from 'vitest';
import { listExamples } from '../support/contract.ts';

const examples = listExamples();

test('the contract has examples', () => {
  expect(examples.length).toBeGreaterThan(10);
});

test.each(examples)('the example $where fits its schema, and has no field beside it', (example) => {
  expect(example.wrong).toBeUndefined();
});
