import { describe, expect, test } from 'vitest';
import type { ReportRecord } from '../../../src/domain/reports/aggregate-report.ts';
import { countSources, MAX_SOURCES } from '../../../src/domain/reports/source-counts.ts';
import { parsePattern, toPattern } from '../../../src/domain/reports/source-pattern.ts';

function aRecord(sourceIp: string | null, count: number, dkim = 'fail'): ReportRecord {
  return {
    sourceIp,
    count,
    policyEvaluated: { disposition: null, dkim, spf: null, reasons: [] },
    identifiers: { headerFrom: null, envelopeFrom: null, envelopeTo: null },
    authResults: { dkim: [], spf: [] },
  };
}

describe('sources of a report', () => {
  test('records of one address are one source; records without an address or messages are none', () => {
    expect(
      countSources([
        aRecord('192.0.2.1', 5),
        aRecord('192.0.2.2', 9, 'pass'),
        aRecord('192.0.2.1', 7, 'pass'),
        aRecord(null, 100),
        aRecord('192.0.2.3', 0),
      ]),
    ).toEqual(
      [
        { address: '192.0.2.1', messages: 12, aligned: 7 },
        { address: '192.0.2.2', messages: 9, aligned: 9 },
      ].map((source) => expect.objectContaining(source)),
    );
  });

  test('are counted by what aligned, and by pattern, the largest pattern first', () => {
    const [failed, passed] = [aRecord('192.0.2.1', 5), aRecord('192.0.2.1', 7, 'pass')];
    const textOf = (record: ReportRecord) => toPattern(record);
    expect(countSources([failed, passed, failed])).toEqual([
      {
        address: '192.0.2.1',
        ...{ messages: 17, aligned: 7, dkimAligned: 7, spfAligned: 0 },
        patterns: [
          { pattern: textOf(failed), messages: 10 },
          { pattern: textOf(passed), messages: 7 },
        ],
      },
    ]);
  });

  test.each([
    [[['forwarded', null]], true],
    [
      [
        ['local_policy', 'spam'],
        ['Trusted_Forwarder', ''],
      ],
      true,
    ],
    [[['mailing_list', null]], true],
    [[['local_policy', 'arc=pass as[1].d=example.net as[1].s=x']], true],
    [[['local_policy', 'no arc=pass']], false],
    [[['other', 'arc=pass']], false],
    [[['local_policy', 'arc=passed']], false],
    [
      [
        ['not_forwarded', null],
        [null, 'arc=pass'],
      ],
      false,
    ],
    [[], false],
  ] as const)('with the override reasons %j are forwarded: %s', (given, isForwarded) => {
    const one = aRecord('192.0.2.1', 1);
    for (const spf of ['pass', 'fail']) {
      const reasons = given.map(([type, comment]) => ({ type, comment }));
      const policyEvaluated = { ...one.policyEvaluated, spf, reasons };
      const seen = parsePattern(toPattern({ ...one, policyEvaluated }));
      expect(seen).toMatchObject({ isForwarded, spf: { isAligned: spf === 'pass' } });
    }
  });

  test('never take the SPF result for HELO', () => {
    const one = (scope: string) => {
      return { scope, domain: `${scope}.example`, result: 'pass', humanResult: null };
    };
    const spfOf = (...scopes: string[]) => {
      const authResults = { dkim: [], spf: scopes.map(one) };
      return parsePattern(toPattern({ ...aRecord('192.0.2.1', 1), authResults })).spf;
    };
    expect(spfOf('helo', 'mfrom')).toMatchObject({ domain: 'mfrom.example', result: 'pass' });
    expect(spfOf('helo')).toMatchObject({ domain: null, result: null });
  });

  test('keep the largest patterns of a flood of them, and no count is too large', () => {
    const sizeOf = (i: number) => (i % 100 === 7 ? 50 : 1);
    const from = (i: number) => {
      const identifiers = { headerFrom: `d${i}.example`, envelopeFrom: null, envelopeTo: null };
      return { ...aRecord(`192.0.2.${i % 50}`, sizeOf(i)), identifiers };
    };
    const sources = countSources(Array.from({ length: 10_000 }, (_, i) => from(i)));
    const patterns = sources.flatMap((source) => source.patterns ?? []);
    expect(sources.every((source) => (source.patterns?.length ?? 0) <= 16)).toBe(true);
    // All large ones are of one address, which keeps 16.
    expect(patterns.filter(({ messages }) => messages === 50)).toHaveLength(16);
    for (const { pattern, messages } of patterns) {
      const { headerFrom } = parsePattern(pattern);
      expect(messages).toBe(sizeOf(Number(/\d+/.exec(headerFrom ?? '')?.[0])));
    }
  });

  test('of 10,000 addresses the largest are kept', () => {
    const sizeOf = (i: number) => (i % 200 === 7 ? 50 + (i % 13) : 1 + (i % 3));
    const records = Array.from({ length: 10_000 }, (_, i) =>
      aRecord(`2001:db8::${i.toString(16)}`, sizeOf(i)),
    );
    const largest = countSources(records);
    expect(largest).toHaveLength(MAX_SOURCES);
    const counts = records.map(({ count }) => count).toSorted((a, b) => b - a);
    expect(largest.map(({ messages }) => messages)).toEqual(counts.slice(0, MAX_SOURCES));
  });
});
