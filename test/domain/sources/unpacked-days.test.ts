import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSafely } from '../../../src/domain/safe-sum.ts';
import { type AddressKey, toAddressKey } from '../../../src/domain/sources/address-key.ts';
import type { DaySources, SourceOfDay } from '../../../src/domain/sources/day-sources.ts';
import { packSources } from '../../../src/domain/sources/packed-sources.ts';
import { type KeyedSum, UnpackedDays } from '../../../src/domain/sources/unpacked-days.ts';

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

/** A day is stored again, or a range is added up: from one of the days to another. */
const step = fc.oneof(
  fc.record({ day: fc.constantFrom(...DAYS), sources: sourcesOfDay }),
  fc.tuple(fc.nat(3), fc.nat(3)).map(([from, to]) => ({ from, to })),
);

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

test('ranges add up to what their days have, after any changes of days', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 20 }), (steps) => {
      const stored = new Map<string, DaySources>();
      const unpacked = new UnpackedDays();
      for (const one of steps) {
        if ('day' in one) {
          stored.set(one.day, one.sources);
          continue;
        }
        const days = DAYS.slice(one.from, one.to + 1).map(
          (day) => [day, stored.get(day) ?? new Map()] as const,
        );
        const found = days.map(([day, sources]) =>
          // Other bytes each time, as they come from the database.
          unpacked.unpack({ day, sources: packSources(sources) }),
        );
        const sums = unpacked.addUp(found.filter((day) => day !== undefined));
        expect(byKey(sums)).toEqual(byKey(addUpSlowly(days)));
      }
    }),
  );
});

test('a damaged day is none, and is unpacked once it is whole again', () => {
  const unpacked = new UnpackedDays();
  const counts = { messages: 5, aligned: 4, dkimAligned: 4, spfAligned: 0 };
  const one = { counts, patterns: new Map(), reporters: new Map() };
  const sources = packSources(new Map([[KEYS[0] as AddressKey, one]])) as Uint8Array;
  const damaged = Uint8Array.from(sources, (byte, i) => (i === 6 ? byte ^ 1 : byte));
  expect(unpacked.unpack({ day: '2026-03-01', sources: damaged })).toBeUndefined();
  const day = unpacked.unpack({ day: '2026-03-01', sources });
  expect(day && unpacked.addUp([day])).toMatchObject([counts]);
});

test('the first 100,000 addresses of a range are added up, whatever was looked at before', () => {
  const unpacked = new UnpackedDays();
  const one = {
    counts: { messages: 1, aligned: 1, dkimAligned: 1, spfAligned: 1 },
    ...{ patterns: new Map(), reporters: new Map() },
  };
  const days = Array.from({ length: 102 }, (_, i) => {
    const keys = Array.from({ length: 1_000 }, (_, n) => i * 1_000 + n);
    const sources = packSources(new Map(keys.map((key) => [key, one])));
    return unpacked.unpack({ day: `day ${String(i).padStart(3, '0')}`, sources });
  }).filter((day) => day !== undefined);
  expect(unpacked.addUp(days)).toHaveLength(100_000);
  const last = unpacked.addUp(days.slice(1)).map(({ key }) => Number(key));
  expect([Math.min(...last.slice(0, 9)), last.length, last.at(-1)]).toEqual([
    1_000, 100_000, 100_999,
  ]);
  expect(unpacked.bytes).toBeGreaterThan(102_000 * (4 + 16));
});
