import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSafely } from '../../../src/domain/safe-sum.ts';
import { type AddressKey, toAddressKey } from '../../../src/domain/sources/address-key.ts';
import type { DaySources, SourceOfDay } from '../../../src/domain/sources/day-sources.ts';
import { packSources } from '../../../src/domain/sources/packed-sources.ts';
import { type KeyedSum, SourceSums } from '../../../src/domain/sources/source-sums.ts';

const KEYS = ['192.0.2.1', '198.51.100.25', '203.0.113.7', '2001:db8::25'].map(toAddressKey);
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'];

const source: fc.Arbitrary<SourceOfDay> = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 2 ** 32 - 1, max: 2 ** 53 - 1 })),
    fc.nat(3),
  )
  .map(([messages, failed]) => {
    const aligned = Math.max(0, messages - failed);
    const counts = { messages, aligned, dkimAligned: aligned, spfAligned: Math.floor(aligned / 2) };
    return { counts, patterns: new Map(), reporters: new Map() };
  });

const sourcesOfDay: fc.Arbitrary<DaySources> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), source), { selector: ([key]) => key })
  .map((sources) => new Map(sources));

function addUpSlowly(days: readonly (readonly [string, DaySources])[]): KeyedSum[] {
  const sums = new Map<AddressKey, KeyedSum>();
  for (const [day, sources] of days)
    for (const [key, { counts }] of sources) {
      const former = sums.get(key) ?? {
        ...{ messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0, firstDay: day },
      };
      const sum = {
        messages: addSafely(former.messages, counts.messages),
        aligned: addSafely(former.aligned, counts.aligned),
        dkimAligned: addSafely(former.dkimAligned, counts.dkimAligned),
        spfAligned: addSafely(former.spfAligned, counts.spfAligned),
      };
      sums.set(key, { key, ...sum, firstDay: former.firstDay, lastDay: day });
    }
  return [...sums.values()];
}

const byKey = (sums: readonly KeyedSum[]) =>
  sums.toSorted((a, b) => (String(a.key) < String(b.key) ? -1 : 1));

/** `sums` has room for the bytes of all days. */
function addUp(days: readonly (readonly [string, DaySources])[]): SourceSums {
  const packed = days.map(([day, sources]) => ({ day, sources: packSources(sources) }));
  const sums = new SourceSums(packed.reduce((bytes, one) => bytes + (one.sources?.length ?? 0), 0));
  for (const day of packed) expect(sums.add(day)).toBe(true);
  return sums;
}

const ofOne = (messages: number): SourceOfDay => ({
  counts: { messages, aligned: messages, dkimAligned: messages, spfAligned: 0 },
  ...{ patterns: new Map(), reporters: new Map() },
});

test('days add up to what each address sent', () => {
  fc.assert(
    fc.property(fc.array(sourcesOfDay, { maxLength: DAYS.length }), (all) => {
      const days = all.map((sources, i) => [DAYS[i] as string, sources] as const);
      expect(byKey(addUp(days).list())).toEqual(byKey(addUpSlowly(days)));
    }),
  );
});

test('addresses are told apart, however near they are', () => {
  const near = fc
    .tuple(fc.constantFrom(0, 0x0a00_0000, -0x3a00_0000), fc.nat(300), fc.constantFrom(1, 64, 4096))
    .map(([base, n, step]) => (base + n * step) | 0);
  const day = fc
    .uniqueArray(near, { maxLength: 900 })
    .map((keys): DaySources => new Map(keys.map((key, i) => [key, ofOne(1 + (i % 7))])));
  fc.assert(
    fc.property(fc.array(day, { maxLength: DAYS.length }), (all) => {
      const days = all.map((sources, i) => [DAYS[i] as string, sources] as const);
      expect(byKey(addUp(days).list())).toEqual(byKey(addUpSlowly(days)));
    }),
  );
});

test('a damaged day adds nothing', () => {
  const sources = packSources(new Map([[KEYS[0] as AddressKey, ofOne(5)]])) as Uint8Array;
  const damaged = Uint8Array.from(sources, (byte, i) => (i === 6 ? byte ^ 1 : byte));
  const sums = new SourceSums(2 * sources.length);
  expect(sums.add({ day: '2026-03-01', sources: damaged })).toBe(false);
  expect(sums.add({ day: '2026-03-02', sources })).toBe(true);
  expect(sums.list()).toMatchObject([{ messages: 5, firstDay: '2026-03-02' }]);
});

test('the first 100,000 addresses of a range are added up, and all days of these', () => {
  const toDay = (i: number, keys: readonly AddressKey[]) =>
    [`day ${String(i).padStart(3, '0')}`, new Map(keys.map((key) => [key, ofOne(1)]))] as const;
  const days = Array.from({ length: 102 }, (_, i) =>
    toDay(
      i,
      Array.from({ length: 1_000 }, (_, n) => (n === 0 ? `2001:db8::${i}` : i * 1_000 + n)),
    ),
  );
  const sums = addUp([...days, toDay(102, [5, '2001:db8::3', 101_005, '2001:db8::101'])]).list();
  expect(sums).toHaveLength(100_000);
  const found = new Map(sums.map(({ key, messages }) => [key, messages]));
  expect([5, '2001:db8::3', 101_005, '2001:db8::101'].map((key) => found.get(key))).toEqual([
    ...[2, 2, undefined, undefined],
  ]);
});
