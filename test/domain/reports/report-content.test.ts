import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withRecords } from '../../../scripts/bare-report.ts';
import type { ReportRecord } from '../../../src/domain/reports/aggregate-report.ts';
import { addToTally, EMPTY_TALLY } from '../../../src/domain/reports/alignment.ts';
import { unpackContent } from '../../../src/domain/reports/report-content.ts';
import { aRecord, aReport } from '../../support/builders.ts';

const text = fc.option(fc.string({ unit: 'binary', maxLength: 20 }), { nil: null });
/** Often what it usually is, or that of the record, which is left out. */
const usual = (...words: readonly (string | null)[]) =>
  fc.oneof(text, fc.constantFrom('example.com', ...words));
const name = usual();
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 4 });

const record: fc.Arbitrary<ReportRecord> = fc.record({
  sourceIp: fc.option(fc.ipV6(), { nil: null }),
  count: fc.oneof(fc.nat(1_000_000), fc.nat(2)),
  policyEvaluated: fc.record({
    disposition: text,
    dkim: fc.constantFrom('pass', 'fail', null),
    spf: fc.constantFrom('pass', 'fail', null),
    reasons: list(fc.record({ type: text, comment: text })),
  }),
  identifiers: fc.record({ headerFrom: name, envelopeFrom: name, envelopeTo: text }),
  authResults: fc.record({
    dkim: list(
      fc.record({ domain: name, selector: text, result: usual('pass'), humanResult: text }),
    ),
    spf: list(
      fc.record({
        ...{ domain: name, scope: usual('mfrom'), result: usual('pass'), humanResult: text },
      }),
    ),
  }),
});

const head = fc.record({
  xmlNamespace: text,
  version: text,
  extraContactInfo: text,
  generator: text,
  errors: list(fc.string({ unit: 'binary' })),
  policyPublished: fc.record({
    domain: fc.domain(),
    ...{ p: text, sp: text, np: text, adkim: text, aspf: text, fo: text },
    ...{ pct: fc.option(fc.nat(100), { nil: null }), testing: text, discoveryMethod: text },
  }),
});

const inOneOrder = (records: readonly object[]) =>
  records.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe('the content of a report', () => {
  test('is the same after it was packed: values and records', () => {
    fc.assert(
      fc.property(head, list(record), (values, records) => {
        const { xmlNamespace, version, policyPublished, ...ofMetadata } = values;
        const { metadata, ...report } = aReport();
        const parts = { ...report, xmlNamespace, version, policyPublished };
        const made = withRecords({ ...parts, metadata: { ...metadata, ...ofMetadata } }, records);
        const { records: kept, others, ...rest } = unpackContent(made.content);
        expect(rest).toEqual(values);
        const counts = kept.map(({ count }) => count);
        expect(counts).toEqual(counts.toSorted((a, b) => b - a));
        // Of equal counts, those whose texts come first are first.
        expect(inOneOrder(kept)).toEqual(
          inOneOrder(records.map((one) => ({ ...one, omitted: 0 }))),
        );
        expect(EMPTY_TALLY).toMatchObject(others);
      }),
    );
  });

  test('of 10,002 records has the largest, and the sums of the others', () => {
    const records = Array.from({ length: 10_002 }, (_, i) =>
      aRecord({ count: i + 1, sourceIp: `2001:db8::${i}`, dkim: i % 2 === 0 ? 'pass' : 'fail' }),
    );
    const { content, tally } = withRecords(aReport(), records);
    const { records: kept, others } = unpackContent(content);
    expect(kept).toHaveLength(10_000);
    expect(others).toEqual({ recordCount: 2, totalMessages: 3, alignedMessages: 1 });
    expect(kept.reduce(addToTally, { ...EMPTY_TALLY, ...others })).toMatchObject({
      ...{ recordCount: tally.recordCount, totalMessages: tally.totalMessages },
      alignedMessages: tally.alignedMessages,
    });
  });

  test('never has another form, because it is stored', () => {
    const stored =
      'AcMVH2CTFdLyS/NSwC5MrQDnHZTIx5ZEsBCo8YLkfmN090MDDsUuLFEDCdFiPVCopRbpQZUrgf0DAA==';
    const { version, errors, policyPublished, records } = unpackContent(
      Buffer.from(stored, 'base64'),
    );
    expect({ version, errors }).toEqual({ version: '1.0', errors: ['none found'] });
    expect(policyPublished).toMatchObject({ domain: 'example.com', p: 'none', sp: null });
    expect(records).toEqual([{ ...aRecord({ count: 3, dkim: 'pass' }), omitted: 0 }]);
  });

  test('of another form, or that is too large, is an error', () => {
    expect(() => unpackContent(Buffer.of(2, 3, 0))).toThrow('unknown form');
    const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(17 * 1024 * 1024))]);
    expect(() => unpackContent(bomb)).toThrow(RangeError);
  });
});
