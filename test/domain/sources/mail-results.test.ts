import { expect, test } from 'vitest';
import { countSources } from '../../../src/domain/reports/source-counts.ts';
import { addReport, type DaySources } from '../../../src/domain/sources/day-sources.ts';
import { createMailResults } from '../../../src/domain/sources/mail-results.ts';
import { packSources } from '../../../src/domain/sources/packed-sources.ts';
import { aRecord, aSignature } from '../../support/builders.ts';

test('results are added up over addresses, those with most failures first', () => {
  const sources: DaySources = new Map();
  const [good, bad] = [aSignature(), aSignature({ selector: 'two', result: 'fail' })];
  addReport(sources, {
    reporter: 'Reporter',
    sources: countSources([
      aRecord({ sourceIp: '192.0.2.1', count: 90, dkim: 'pass', signatures: [good, bad] }),
      aRecord({ sourceIp: '192.0.2.2', count: 7, disposition: 'reject', signatures: [bad] }),
      aRecord({ sourceIp: '192.0.2.3', count: 3, disposition: null }),
    ]),
  });
  addReport(sources, { reporter: null, sources: countSources([aRecord({ count: 20 })]) });
  const results = createMailResults();
  results.add(packSources(sources));
  const { applied, signatures, reporters } = results.end();
  expect(Object.fromEntries(applied)).toEqual({ reject: 7, null: 3, none: 20 });
  expect(signatures).toEqual([
    { domain: 'example.com', selector: 'two', messages: 97, aligned: 0 },
    { domain: 'example.com', selector: 'one', messages: 90, aligned: 90 },
  ]);
  expect(reporters).toEqual([
    { name: null, messages: 20, aligned: 0 },
    { name: 'Reporter', messages: 100, aligned: 90 },
  ]);
});
