import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceTally } from '../../../src/domain/reports/aggregate-report.ts';
import {
  type AddressKey,
  toAddress,
  toAddressKey,
} from '../../../src/domain/sources/address-key.ts';
import {
  addDay,
  addReport,
  type DaySources,
  type PassCounts,
  subtractDay,
} from '../../../src/domain/sources/day-sources.ts';
import {
  eachSource,
  packSources,
  unpackSource,
  unpackSources,
} from '../../../src/domain/sources/packed-sources.ts';

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

function dayOf(reports: readonly Report[]): DaySources {
  const day: DaySources = new Map();
  for (const one of reports) addReport(day, one);
  return day;
}

const stored = (day: DaySources): DaySources => unpackSources(packSources(day));

const KEY = toAddressKey('192.0.2.1');

describe('the sources of a day', () => {
  test('are unpacked as they were packed', () => {
    fc.assert(
      fc.property(fc.array(report), (reports) => {
        const day = dayOf(reports);
        expect(stored(day)).toEqual(day);
        const counts = new Map<AddressKey, PassCounts>();
        eachSource(packSources(day), (key, messages, aligned) => {
          counts.set(key, { messages, aligned });
        });
        const wanted = [...day].map(
          ([
            key,
            {
              counts: { messages, aligned },
            },
          ]) => {
            return [key, { messages, aligned }] as const;
          },
        );
        expect(counts).toEqual(new Map(wanted));
      }),
    );
  });

  test('are the same in whatever order and groups reports come in', () => {
    fc.assert(
      fc.property(fc.array(report), fc.array(report), (some, others) => {
        const day = stored(dayOf(some));
        addDay(day, dayOf(others));
        expect(stored(day)).toEqual(dayOf([...others, ...some]));
      }),
    );
  });

  test('without a report are those of the others', () => {
    fc.assert(
      fc.property(fc.array(report), report, (others, removed) => {
        const day = stored(dayOf([...others, removed]));
        subtractDay(day, dayOf([removed]));
        expect(stored(day)).toEqual(dayOf(others));
      }),
    );
  });

  test('are null when none is left', () => {
    expect(packSources(new Map())).toBeNull();
    const day = dayOf([{ reporter: null, sources: [source('192.0.2.1', 5)] }]);
    subtractDay(day, dayOf([{ reporter: null, sources: [source('192.0.2.1', 7)] }]));
    expect(packSources(day)).toBeNull();
  });

  test('count up to 2^53 - 1', () => {
    const huge = { reporter: null, sources: [source('192.0.2.1', MAX)] };
    expect(stored(dayOf([huge, huge])).get(KEY)?.counts.messages).toBe(MAX);
  });
});

const source = (address: string, messages: number, pattern?: string): SourceTally => ({
  address,
  messages,
  aligned: 0,
  patterns: pattern === undefined ? [] : [{ pattern, messages }],
});

test.each(['0.0.0.0', '192.0.2.1', '255.255.255.255', '2001:db8::25', '::', '::1'])(
  'the key of %s gives it again',
  (address) => {
    expect(toAddress(toAddressKey(address))).toBe(address);
    const day = dayOf([{ reporter: null, sources: [source(address, 5)] }]);
    const packed = packSources(day) as Uint8Array;
    expect(unpackSources(packed)).toEqual(day);
    expect(unpackSource(packed, toAddressKey(address))).toEqual(day.get(toAddressKey(address)));
    expect(unpackSource(packed, toAddressKey('192.0.2.99'))).toBeUndefined();
  },
);

test('a name of a reporter with line ends, and an empty one, leave the other texts as they are', () => {
  const sources = [source('192.0.2.1', 5, '["a.example",0,0,"none"]')];
  const day = dayOf(['Two\nlines', '', 'Other'].map((reporter) => ({ reporter, sources })));
  expect([...(stored(day).get(KEY)?.reporters.keys() ?? [])]).toEqual(['Two lines', null, 'Other']);
  expect([...(stored(day).get(KEY)?.patterns ?? [])]).toEqual([['["a.example",0,0,"none"]', 15]]);
});

describe('a flood', () => {
  test('of addresses leaves the 1,000 largest', () => {
    const sources = Array.from({ length: 3_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, i % 3 === 0 ? 50 : 1),
    );
    const kept = [...stored(dayOf([{ reporter: null, sources }])).values()];
    expect(kept).toHaveLength(1_000);
    expect(kept.every(({ counts }) => counts.messages === 50)).toBe(true);
  });

  test('of patterns and reporters leaves the 64 largest of an address', () => {
    const reports = Array.from({ length: 200 }, (_, i) => ({
      reporter: `Reporter ${i}`,
      sources: [source('192.0.2.1', 1 + i, `["d${i}.example",0,0,null]`)],
    }));
    const { counts, patterns, reporters } = stored(dayOf(reports)).get(KEY) ?? {};
    expect([counts?.messages, patterns?.size, reporters?.size]).toEqual([(200 * 201) / 2, 64, 64]);
    expect(Math.min(...(patterns?.values() ?? []))).toBe(137);
  });

  test('of patterns leaves each address its own', () => {
    const sources = Array.from({ length: 300 }, (_, i) =>
      source(
        `192.0.2.${i % 256}`.replace('.2.', `.${2 + (i >> 8)}.`),
        300 - i,
        `["d${i}.example"]`,
      ),
    );
    const day = dayOf([{ reporter: 'Provider', sources }]);
    const packed = packSources(day) as Uint8Array;
    expect(unpackSources(packed)).toEqual(day);
    for (const [key, one] of day) expect(unpackSource(packed, key)).toEqual(one);
  });

  test('of long texts takes a bounded number of bytes', () => {
    const sources = Array.from({ length: 1_000 }, (_, i) =>
      source(`2001:db8::${i.toString(16)}`, 1_000 - i, `["${`${i}`.repeat(1_000)}",0,0,null]`),
    );
    const packed = packSources(dayOf([{ reporter: 'x'.repeat(10_000), sources }]));
    expect(packed?.length).toBeLessThan(100_000);
    expect(unpackSources(packed).get('2001:db8::0')?.patterns.size).toBe(1);
    expect(unpackSources(packed).get('2001:db8::3e7')?.counts.messages).toBe(1);
  });

  test('never leaves more messages in patterns than an address has', () => {
    const day = dayOf([
      { reporter: null, sources: [source('192.0.2.1', 9, '["a.example",0,0,null]')] },
    ]);
    subtractDay(day, dayOf([{ reporter: null, sources: [source('192.0.2.1', 6)] }]));
    expect([...(stored(day).get(KEY)?.patterns.values() ?? [])]).toEqual([3]);
  });
});
