import { expect, test } from 'vitest';
import { parsePattern, toPattern } from '../../../src/domain/reports/source-pattern.ts';
import { toMailResults } from '../../../src/domain/sources/mail-results.ts';
import { aRecord, aSignature } from '../../support/builders.ts';

test('results are added up over patterns, those with most failures first', () => {
  const [good, bad] = [aSignature(), aSignature({ selector: 'two', result: 'fail' })];
  const patterns = new Map([
    [toPattern(aRecord({ dkim: 'pass', signatures: [good, bad] })), 90],
    [toPattern(aRecord({ disposition: 'reject', signatures: [bad] })), 7],
    [toPattern(aRecord({ disposition: null })), 3],
    [toPattern(aRecord()), 20],
  ]);
  const reporters = new Map([
    ['Reporter', { messages: 100, aligned: 90 }],
    [null, { messages: 20, aligned: 0 }],
  ]);
  const sightings = [...patterns].map(([text, messages]) => ({
    seen: parsePattern(text),
    messages,
  }));
  const results = toMailResults(sightings, reporters);
  expect(Object.fromEntries(results.applied)).toEqual({ reject: 7, null: 3, none: 20 });
  expect(results.signatures).toEqual([
    { domain: 'example.com', selector: 'two', messages: 97, aligned: 0 },
    { domain: 'example.com', selector: 'one', messages: 90, aligned: 90 },
  ]);
  expect(results.reporters).toEqual([
    { name: null, messages: 20, aligned: 0 },
    { name: 'Reporter', messages: 100, aligned: 90 },
  ]);
});
