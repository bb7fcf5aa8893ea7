import { describe, expect, test } from 'vitest';
import type { ReportRecord } from '../../../src/domain/reports/aggregate-report.ts';
import { LargestRecords, MAX_LISTED_RECORDS } from '../../../src/domain/reports/largest-records.ts';

function aRecord(count: number, passes = true, selector = 's1'): ReportRecord {
  const result = { domain: 'example.com', selector, result: 'pass', humanResult: null };
  return {
    sourceIp: '192.0.2.1',
    count,
    policyEvaluated: {
      disposition: 'none',
      dkim: passes ? 'pass' : 'fail',
      spf: null,
      reasons: [],
    },
    identifiers: { headerFrom: 'example.com', envelopeFrom: null, envelopeTo: null },
    authResults: { dkim: [result], spf: [] },
  };
}

function gather(records: readonly ReportRecord[]) {
  const largest = new LargestRecords();
  for (const record of records) largest.add(record);
  return largest;
}

describe('the largest records of a report', () => {
  test('are those with the most failed messages, then the most messages, then as in the document', () => {
    const records = [aRecord(5, true, 'a'), aRecord(9), aRecord(2, false), aRecord(5, true, 'b')];
    const part = gather(records).part({ from: 0, count: 10 });
    expect(part.records.map(({ count }) => count)).toEqual([2, 9, 5, 5]);
    expect(part.records.slice(2).map((r) => r.authResults.dkim[0]?.selector)).toEqual(['a', 'b']);
  });

  test('are the same thousand in whichever order they come', () => {
    const counts = Array.from({ length: 7_000 }, (_, i) => ((i * 7_919) % 7_000) + 1);
    const { records, listed } = gather(counts.map((count) => aRecord(count))).part({
      from: 0,
      count: MAX_LISTED_RECORDS,
    });
    expect(listed).toBe(MAX_LISTED_RECORDS);
    expect(records.map(({ count }) => count)).toEqual(
      Array.from({ length: 1_000 }, (_, i) => 7_000 - i),
    );
  });

  test('have no more text than a page can show', () => {
    const long = 'x'.repeat(4_000);
    const [dkim] = aRecord(1, true, long).authResults.dkim;
    const record = { ...aRecord(1), authResults: { dkim: Array(1_000).fill(dkim), spf: [] } };
    const { records } = gather(Array(100).fill(record)).part({ from: 0, count: 100 });
    expect(records[0]?.omitted).toBe(990);
    expect(records[0]?.authResults.dkim[0]?.selector).toMatch(/^x{254}…$/);
    expect(records[99]).toMatchObject({ omitted: 999 });
    expect(JSON.stringify(records).length).toBeLessThan(200_000);
  });
});
