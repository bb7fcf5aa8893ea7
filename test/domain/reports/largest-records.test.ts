import { describe, expect, test } from 'vitest';
import { LargestRecords, MAX_KEPT_RECORDS } from '../../../src/domain/reports/largest-records.ts';
import { toKeptRecord } from '../../../src/domain/reports/record-text.ts';
import { aRecord, aSignature } from '../../support/builders.ts';

type Gathered = ReturnType<typeof aRecord>;

function gather(records: Iterable<Gathered>): string[] {
  const largest = new LargestRecords();
  for (const record of records) largest.add(record);
  return largest.end().map(({ text }) => text);
}

const parseRecordTexts = (texts: readonly string[]) =>
  texts.map((text) => toKeptRecord(JSON.parse(text)));

describe('the largest records of a report', () => {
  test('are those with the most messages, of equal ones by their texts', () => {
    const records = [
      aRecord({ count: 5, headerFrom: 'b.example' }),
      aRecord({ count: 9 }),
      aRecord({ count: 5, headerFrom: 'a.example' }),
    ];
    const kept = parseRecordTexts(gather(records));
    expect(kept.map(({ count, identifiers }) => [count, identifiers.headerFrom])).toEqual([
      [9, 'example.com'],
      [5, 'a.example'],
      [5, 'b.example'],
    ]);
  });

  test.each(['growing', 'shrinking', 'mixed'])(
    'are the same ten thousand of %s ones, whatever their order',
    (order) => {
      const total = 4 * MAX_KEPT_RECORDS + 1;
      const toCount = (i: number) =>
        ({ growing: i >> 1, shrinking: (total - i) >> 1, mixed: (i * 7_919) % 20_011 })[order] ?? 0;
      const records = Array.from({ length: total }, (_, i) =>
        aRecord({ count: toCount(i), headerFrom: `${i}` }),
      );
      const toName = ({ identifiers }: Gathered) => String(identifiers.headerFrom);
      const right = records
        .toSorted((a, b) => b.count - a.count || (toName(a) < toName(b) ? -1 : 1))
        .slice(0, MAX_KEPT_RECORDS);
      const texts = gather(records);
      expect(parseRecordTexts(texts).map(toName)).toEqual(right.map(toName));
      expect(gather(records.toReversed())).toEqual(texts);
    },
  );

  test('have 4 million characters at most, whatever the order', () => {
    const signatures = Array(10).fill(aSignature({ selector: 'x'.repeat(250) }));
    const records = Array.from({ length: 5_000 }, (_, i) => aRecord({ count: i, signatures }));
    const texts = gather(records);
    const chars = texts.join('').length;
    expect(chars).toBeGreaterThan(3_990_000);
    expect(chars).toBeLessThanOrEqual(4_000_000);
    expect(texts).toEqual(gather(records.toReversed()));
    expect(parseRecordTexts(texts).map(({ count }) => count)).toEqual(
      Array.from({ length: texts.length }, (_, i) => 4_999 - i),
    );
  });

  test('have no more entries and text than a page can show', () => {
    const signature = {
      ...aSignature({ selector: 'x'.repeat(4_000) }),
      humanResult: '📬'.repeat(400),
    };
    const [kept] = parseRecordTexts(
      gather([aRecord({ signatures: Array(1_000).fill(signature) })]),
    );
    expect(kept?.omitted).toBe(990);
    expect(kept?.authResults.dkim).toHaveLength(10);
    expect(kept?.authResults.dkim[0]?.selector).toMatch(/^x{254}…$/);
    expect(kept?.authResults.dkim[0]?.humanResult).toMatch(/^(📬){149}\ufffd…$/u);
  });
});
