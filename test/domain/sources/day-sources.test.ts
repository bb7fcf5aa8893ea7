import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceTally } from '../../../src/domain/reports/source-counts.ts';
import {
  addReport,
  addSource,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../../../src/domain/sources/day-sources.ts';
import { packSources, unpackSources } from '../../../src/domain/sources/stored-sources.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const ADDRESSES = ['192.0.2.1', '198.51.100.25', '2001:db8::25'];
const PATTERNS = ['["a.example",0,1,"none"]', '["b.example",1,0,null]', '["ü",0,0,"reject"]'];

const tally: fc.Arbitrary<SourceTally> = fc
  .tuple(
    fc.constantFrom(...ADDRESSES),
    fc.array(fc.tuple(fc.constantFrom(...PATTERNS), fc.integer({ min: 1, max: 1e12 })), {
      maxLength: 3,
    }),
    fc.nat(100),
    fc.nat(100),
  )
  .map(([address, listed, other, percent]) => {
    const patterns = [...new Map(listed)].map(([pattern, messages]) => ({ pattern, messages }));
    const messages = patterns.reduce((sum, one) => sum + one.messages, other + 1);
    const aligned = Math.floor((messages * percent) / 100);
    const spfAligned = Math.floor(aligned / 2);
    return { address, messages, aligned, dkimAligned: aligned, spfAligned, patterns };
  });

const report = fc.record({
  reporter: fc.constantFrom('Mailbox Provider', 'Ö', null),
  sources: fc.uniqueArray(tally, { selector: ({ address }) => address }),
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
    const huge = { reporter: null, sources: [source('192.0.2.1', MAX)] };
    expect(stored([huge, huge])[0]?.messages).toBe(MAX);
  });

  test('are not read from other bytes', () => {
    const packed = packSources(
      keepLargest(sumOf([{ reporter: null, sources: [source('192.0.2.1', 5)] }])),
    );
    const flipped = packed.map((byte, i) => (i === packed.length - 6 ? byte ^ 64 : byte));
    for (const bytes of [Buffer.alloc(0), packed.subarray(1), packed.subarray(0, -3), flipped])
      expect(unpackSources(bytes)).toBeUndefined();
  });
});

const source = (address: string, messages: number, pattern?: string): SourceTally => ({
  address,
  messages,
  aligned: 0,
  patterns: pattern === undefined ? [] : [{ pattern, messages }],
});

test('a name of a reporter with line ends, and an empty one, leave the other texts as they are', () => {
  const sources = [source('192.0.2.1', 5, '["a.example",0,0,"none"]')];
  const [found] = stored(['Two\nlines', '', 'Other'].map((reporter) => ({ reporter, sources })));
  expect([...new Map(found?.reporters).keys()]).toEqual(['Two\nlines', null, 'Other']);
  expect([...(found?.patterns ?? [])]).toEqual([['["a.example",0,0,"none"]', 15]]);
});

describe('a flood', () => {
  test('of addresses leaves the 1,000 largest', () => {
    const sources = Array.from({ length: 3_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, i % 3 === 0 ? 50 : 1),
    );
    const kept = stored([{ reporter: null, sources }]);
    expect(kept).toHaveLength(1_000);
    expect(kept.every(({ messages }) => messages === 50)).toBe(true);
  });

  test('of patterns and reporters leaves the 64 largest of an address', () => {
    const reports = Array.from({ length: 200 }, (_, i) => ({
      reporter: `Reporter ${i}`,
      sources: [source('192.0.2.1', 1 + i, `["d${i}.example",0,0,null]`)],
    }));
    const [found] = stored(reports);
    const [patterns, reporters] = [new Map(found?.patterns), new Map(found?.reporters)];
    const messages = (200 * 201) / 2;
    expect([found?.messages, patterns.size, reporters.size]).toEqual([messages, 64, 64]);
    expect(Math.min(...patterns.values())).toBe(137);
  });

  test('of patterns leaves each address its own', () => {
    const sources = Array.from({ length: 300 }, (_, i) =>
      source(
        `192.0.2.${i % 256}`.replace('.2.', `.${2 + (i >> 8)}.`),
        300 - i,
        `["d${i}.example"]`,
      ),
    );
    const day = stored([{ reporter: 'Provider', sources }]);
    expect(day.map(({ patterns }) => [...patterns].length)).toEqual(Array(300).fill(1));
  });

  test('of long texts takes a bounded number of bytes', () => {
    const sources = Array.from({ length: 1_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, 1_000 - i, `["${`${i}`.repeat(1_000)}",0,0,null]`),
    );
    const sums = sumOf([{ reporter: 'x'.repeat(10_000), sources }]);
    const packed = packSources(keepLargest(sums));
    expect(packed.length).toBeLessThan(100_000);
    const found = unpackSources(packed) as DaySource[];
    expect([...(found[0]?.patterns ?? [])]).toHaveLength(1);
    expect(found.at(-1)?.messages).toBe(1);
  });
});
