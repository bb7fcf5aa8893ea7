import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportRecord } from '../../../src/domain/reports/aggregate-report.ts';
import {
  addReport,
  addSource,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../../../src/domain/sources/day-sources.ts';
import { packSources, unpackSources } from '../../../src/domain/sources/stored-sources.ts';
import { aRecord } from '../../support/builders.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const ADDRESSES = ['192.0.2.1', '198.51.100.25', '2001:db8::25'];

const record = fc
  .record({
    sourceIp: fc.constantFrom(...ADDRESSES, null),
    count: fc.integer({ min: 0, max: 1e12 }),
    headerFrom: fc.constantFrom('a.example', 'b.example', 'ü.example'),
    spf: fc.constantFrom('pass', 'fail'),
    dkim: fc.constantFrom('pass', 'fail'),
  } as const)
  .map(({ sourceIp, ...given }): ReportRecord => ({ ...aRecord(given), sourceIp }));

const report = fc.record({
  reporter: fc.constantFrom('Mailbox Provider', 'Ö', null),
  records: fc.array(record, { maxLength: 8 }),
});
type Report = Parameters<typeof addReport>[1];

function sumOf(reports: readonly Report[]): SourceSums {
  const sums: SourceSums = new Map();
  for (const one of reports) addReport(sums, one);
  return sums;
}

/** The sources of a day as they are read from the cache. */
const stored = (reports: readonly Report[]) =>
  unpackSources(packSources(keepLargest(sumOf(reports)))) as DaySource[];

/** In an order of their own. */
const toComparable = (sources: readonly DaySource[]) =>
  sources
    .map((source) => ({
      ...source,
      patterns: Object.fromEntries(source.patterns),
      reporters: new Map(source.reporters),
    }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));

describe('the sources of a day', () => {
  test('are read as they were stored', () => {
    fc.assert(
      fc.property(fc.array(report), (reports) => {
        expect(stored(reports)).toEqual(keepLargest(sumOf(reports)));
      }),
    );
  });

  test('are the same in whatever order and groups reports come in', () => {
    fc.assert(
      fc.property(fc.array(report), fc.array(report), (some, others) => {
        const sums: SourceSums = new Map();
        for (const source of [...stored(some), ...stored(others)]) addSource(sums, source);
        const both = stored([...others, ...some]);
        expect(toComparable([...sums.values()])).toEqual(toComparable(both));
      }),
    );
  });

  test('are none without reports', () => {
    expect(stored([])).toEqual([]);
  });

  test('count up to 2^53 - 1', () => {
    const huge = { reporter: null, records: [source('192.0.2.1', MAX)] };
    expect(stored([huge, huge])[0]?.messages).toBe(MAX);
  });

  test('are not read from other bytes', () => {
    const packed = packSources(
      keepLargest(sumOf([{ reporter: null, records: [source('192.0.2.1', 5)] }])),
    );
    const flipped = packed.map((byte, i) => (i === packed.length - 6 ? byte ^ 64 : byte));
    for (const bytes of [Buffer.alloc(0), packed.subarray(1), packed.subarray(0, -3), flipped])
      expect(unpackSources(bytes)).toBeUndefined();
  });

  test('took 16 KiB for each day of a year on their way between threads, whatever they had', () => {
    const sums = sumOf([{ reporter: null, records: [source('192.0.2.1', 5)] }]);
    const packed = packSources(keepLargest(sums));
    expect(structuredClone(packed).buffer.byteLength).toBe(packed.length);
  });
});

const source = (sourceIp: string, count: number, headerFrom = 'example.com') =>
  aRecord({ sourceIp, count, headerFrom });

test('records of one address are one source, by pattern; those without an address or messages are none', () => {
  const passed = aRecord({ sourceIp: '192.0.2.1', count: 7, dkim: 'pass' });
  const failed = aRecord({ sourceIp: '192.0.2.1', count: 5, headerFrom: 'other.example' });
  const nobody = { ...aRecord({ count: 100 }), sourceIp: null };
  const none = aRecord({ sourceIp: '192.0.2.3', count: 0 });
  const [found, ...others] = stored([
    { reporter: 'R', records: [passed, failed, nobody, none, passed] },
  ]);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ messages: 19, aligned: 14, dkimAligned: 14, spfAligned: 0 });
  expect([...(found?.patterns ?? [])].map(([, messages]) => messages)).toEqual([14, 5]);
});

test('a name of a reporter with line ends, and an empty one, leave the other texts as they are', () => {
  const records = [source('192.0.2.1', 5)];
  const [found] = stored(['Two\nlines', '', 'Other'].map((reporter) => ({ reporter, records })));
  expect([...new Map(found?.reporters).keys()]).toEqual(['Two\nlines', null, 'Other']);
  expect([...(found?.patterns ?? [])].map(([, messages]) => messages)).toEqual([15]);
});

describe('a flood', () => {
  test('of addresses leaves the 1,000 largest', () => {
    const records = Array.from({ length: 3_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, i % 3 === 0 ? 50 : 1),
    );
    const kept = stored([{ reporter: null, records }]);
    expect(kept).toHaveLength(1_000);
    expect(kept.every(({ messages }) => messages === 50)).toBe(true);
  });

  test('of patterns and reporters leaves the 64 largest of an address', () => {
    const reports = Array.from({ length: 200 }, (_, i) => ({
      reporter: `Reporter ${i}`,
      records: [source('192.0.2.1', 1 + i, `d${i}.example`)],
    }));
    const [found] = stored(reports);
    const [patterns, reporters] = [new Map(found?.patterns), new Map(found?.reporters)];
    const messages = (200 * 201) / 2;
    expect([found?.messages, patterns.size, reporters.size]).toEqual([messages, 64, 64]);
    expect(Math.min(...patterns.values())).toBe(137);
  });

  test('of patterns leaves each address its own', () => {
    const records = Array.from({ length: 300 }, (_, i) =>
      source(`192.0.2.${i % 256}`.replace('.2.', `.${2 + (i >> 8)}.`), 300 - i, `d${i}.example`),
    );
    const day = stored([{ reporter: 'Provider', records }]);
    expect(day.map(({ patterns }) => [...patterns].length)).toEqual(Array(300).fill(1));
  });

  test('of long texts takes a bounded number of bytes', () => {
    const records = Array.from({ length: 1_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, 1_000 - i, `${`${i}`.repeat(200)}`),
    );
    const sums = sumOf([{ reporter: 'x'.repeat(10_000), records }]);
    const packed = packSources(keepLargest(sums));
    expect(packed.length).toBeLessThan(100_000);
    const found = unpackSources(packed) as DaySource[];
    expect([...(found[0]?.patterns ?? [])]).toHaveLength(1);
    expect(found.at(-1)?.messages).toBe(1);
  });
});
