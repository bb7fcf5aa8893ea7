import { describe, expect, test } from 'vitest';
import type { KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { addDays } from '../../../src/domain/instant.ts';
import { carryOut, D, days, facts, NOW, occurrences, times } from './facts.ts';

const TYPE = 'alert.alignment_regression';
const GOOD = times(7, [1000, 990]);

const found = (known: Parameters<typeof facts>[0]) => occurrences(TYPE, facts(known));
const fires = (known: Parameters<typeof facts>[0]) =>
  found(known).some(({ ending }) => ending === null);

describe('fires', () => {
  test.each<[string, boolean, [number, number], [number, number]]>([
    ['a drop of exactly ten points', true, [1000, 990], [1000, 890]],
    ['one message less', false, [1000, 990], [1000, 891]],
    ['exactly 100 messages on the day', true, [1000, 1000], [100, 90]],
    ['99 messages on the day', false, [1000, 1000], [99, 0]],
    // 70.1 − 60.1 is 9.999999999999993 in floating point.
    ['ten points that floating point would get wrong', true, [1000, 701], [1000, 601]],
    // 0.7 − 0.6 is 0.09999999999999998.
    ['ten points of few messages', true, [100, 70], [100, 60]],
    ['thirds', true, [300, 100], [300, 70]],
    ['counts past what a product of doubles holds', true, [4e9, 4e9], [4e9, 36e8]],
    ['one message in four thousand million less', false, [4e9, 4e9], [4e9, 36e8 + 1]],
  ])('%s: %s', (_what, wanted, before, day) => {
    expect(fires({ days: days([...times(7, before), day]) })).toBe(wanted);
  });

  test.each([
    [100, true],
    [99, false],
  ])('%i messages in the seven days before: %s', (messages, wanted) => {
    const before = [...times(6, [10, 10]), [messages - 60, messages - 60] as const];
    expect(fires({ days: days([...before, [1000, 900]]) })).toBe(wanted);
  });

  test('not before there are seven days to compare with, which need not be consecutive', () => {
    expect(fires({ days: days([...times(6, [1000, 990]), [1000, 500]]) })).toBe(false);
    const spread = days([...GOOD, [1000, 500]]).map((day, i) =>
      i < 7 ? { ...day, day: addDays(D, (i - 7) * 9) } : day,
    );
    expect(fires({ days: spread })).toBe(true);
  });

  test('the baseline is exactly the seven data days before', () => {
    const old = times(5, [1_000_000, 0]);
    expect(fires({ days: days([...old, ...GOOD, [1000, 890]]) })).toBe(true);
  });

  test('a day of four days ago may fire, one of five days ago may not', () => {
    const all = days([...GOOD, [1000, 500]]);
    expect(fires({ days: all, now: '2026-03-18T23:59:59Z' })).toBe(true);
    expect(fires({ days: all, now: '2026-03-19T00:00:00Z' })).toBe(false);
  });

  test('not for days before the domain was resumed', () => {
    const all = days([...GOOD, [1000, 500]]);
    expect(fires({ days: all, watchedSince: '2026-03-14T23:00:00Z' })).toBe(true);
    expect(fires({ days: all, watchedSince: '2026-03-15T00:00:00Z' })).toBe(false);
  });

  test('context: points and rates with at most two decimals, and the counts', () => {
    const [{ context } = { context: {} }] = found({
      days: days([...times(7, [300, 299]), [300, 200]]),
    });
    expect(context).toStrictEqual({
      drop_pct: 33,
      prev_pass_rate: 99.67,
      curr_pass_rate: 66.67,
      day: D,
      message_count: 300,
      failed_count: 100,
    });
  });
});

describe('resolves', () => {
  const regressed = days([...GOOD, [1000, 500]]);
  const open = carryOut(facts({ days: regressed }));
  /** The days after D, and a time after the last of them. */
  const later = (...counts: [number, number][]) => ({
    days: days([...GOOD, [1000, 500], ...counts], addDays(D, counts.length)),
    now: `${addDays(D, counts.length + 1)}T06:00:00Z`,
    alerts: open,
  });

  test.each<[string, boolean, [number, number][]]>([
    ['exactly five points below before', false, [[1000, 940]]],
    ['one message less', true, [[1000, 939]]],
    ['back, on a day with 100 messages', false, [[100, 99]]],
    ['back, on a day with 99 messages', true, [[99, 99]]],
    ['still low for 13 data days', true, times(13, [1000, 500]) as [number, number][]],
    ['still low for 14 data days', false, times(14, [1000, 500]) as [number, number][]],
  ])('%s: open %s', (_what, wanted, counts) => {
    expect(carryOut(facts(later(...counts))).some(({ isOpen }) => isOpen)).toBe(wanted);
  });

  test('never because time passes without data', () => {
    const known = facts({ days: regressed, alerts: open, now: '2026-09-01T00:00:00Z' });
    expect(carryOut(known)).toEqual(open);
  });

  test('when late reports show that there was no drop; until then the figures follow them', () => {
    const worse = days([...GOOD, [2000, 800]]);
    const [updated] = carryOut(facts({ days: worse, alerts: open }));
    expect(updated).toMatchObject({ isOpen: true, context: { curr_pass_rate: 40, drop_pct: 59 } });
    const fine = days([...GOOD, [20_000, 19_500]]);
    expect(carryOut(facts({ days: fine, alerts: open }))).toMatchObject([{ isOpen: false }]);
  });

  test('and fires again, as another alert, when the rate falls again', () => {
    const recovered = carryOut(facts(later([1000, 990])));
    const counts: [number, number][] = [
      [1000, 990],
      ...(times(7, [1000, 990]) as [number, number][]),
      [1000, 400],
    ];
    const again = carryOut(facts({ ...later(...counts), alerts: recovered }));
    expect(again.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    expect(again[1]?.context['day']).toBe(addDays(D, 9));
  });
});

test('a late day fires as if it had come in time, and an alert that ended before is resolved at once', () => {
  const known = facts({
    days: days([...GOOD, [1000, 500], [1000, 990]], addDays(D, 1)),
    now: '2026-03-16T06:00:00Z',
  });
  const alerts = carryOut(known);
  expect(alerts).toMatchObject([{ isOpen: false, context: { day: D } }]);
  expect(carryOut({ ...known, alerts })).toEqual(alerts);
});

test('an alert with another kind of subject has no occurrence, and is resolved', () => {
  const stray: KnownAlert = {
    id: 'x',
    type: TYPE,
    subject: 'made by hand',
    isOpen: true,
    resolvedAt: null,
    firedAt: NOW,
    context: {},
  };
  expect(carryOut(facts({ alerts: [stray] }))).toEqual([
    { ...stray, isOpen: false, resolvedAt: NOW, context: { resolution: 'reports_corrected' } },
  ]);
});
