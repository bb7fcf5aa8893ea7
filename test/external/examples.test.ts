import { expect, test } from 'vitest';
import { listExamples } from '../support/contract.ts';

const examples = listExamples();

test('the contract has examples', () => {
  expect(examples.length).toBeGreaterThan(10);
});

test.each(examples)('the example $where matches its schema, and has no other fields', (example) => {
  expect(example.wrong).toBeUndefined();
});
