import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, daysBetween } from '../../../src/domain/instant.ts';
import { findColumn, toChartColumns } from '../../../src/settings/frame/charts/columns.ts';
import { renderPassRate, toIncidents } from '../../../src/settings/frame/charts/pass-rate.ts';
import { toCountAxis, toDateTicks, toRateAxis } from '../../../src/settings/frame/charts/plot.ts';
import { renderVolume } from '../../../src/settings/frame/charts/volume.ts';

const DAY = '2026-03-14';
const last = (count: number) => ({ from: addDays(DAY, 1 - count), to: DAY });

describe('columns', () => {
  test.each([
    [1, 'day', 1],
    [30, 'day', 30],
    [120, 'day', 120],
    [121, 'week', 18],
    [365, 'week', 53],
    [830, 'week', 119],
    [850, 'month', 29],
    [3_630, 'month', 120],
    [3_660, 'quarter', 41],
  ])('of %i days are by %s: %i', (count, unit, columns) => {
    const folded = toChartColumns([], last(count));
    expect([folded.unit, folded.columns.length]).toEqual([unit, columns]);
  });

  test('cover each day of any range once, and keep every message', () => {
    const days = fc.uniqueArray(
      fc.record({
        day: fc.integer({ min: -4000, max: 100 }).map((n) => addDays(DAY, n)),
        messages: fc.integer({ min: 0, max: 1_000_000 }),
        aligned: fc.integer({ min: 0, max: 1_000_000 }),
      }),
      { selector: ({ day }) => day },
    );
    const length = fc.integer({ min: 1, max: 3_660 });
    fc.assert(
      fc.property(days, length, (all, count) => {
        const { from, to } = last(count);
        const { columns } = toChartColumns(all, { from, to });
        expect(columns.length).toBeLessThanOrEqual(120);
        expect([columns[0]?.from, columns.at(-1)?.to]).toEqual([from, to]);
        for (const [i, column] of columns.slice(1).entries())
          expect(daysBetween(columns[i]?.to ?? '', column.from)).toBe(1);
        const within = all.filter(({ day }) => day >= from && day <= to);
        const sum = (rows: readonly { messages: number }[]) =>
          rows.reduce((total, { messages }) => total + messages, 0);
        expect(sum(columns)).toBe(sum(within));
      }),
      { numRuns: 50 },
    );
  });

  test('begin on Mondays and on the first of a month, except for the first one', () => {
    const starts = (count: number) =>
      toChartColumns([], last(count)).columns.map(({ from }) => from);
    expect(starts(365).slice(0, 3)).toEqual(['2025-03-15', '2025-03-17', '2025-03-24']);
    expect(starts(1_000).slice(0, 3)).toEqual(['2023-06-19', '2023-07-01', '2023-08-01']);
  });

  test('a day outside belongs to the nearest one', () => {
    const { columns } = toChartColumns([], last(30));
    const places = ['2020-01-01', addDays(DAY, -29), DAY, '2030-01-01'];
    expect(places.map((day) => findColumn(columns, day))).toEqual([0, 0, 29, 29]);
  });
});

describe('axes', () => {
  const texts = (ticks: readonly { text: string }[]) => ticks.map(({ text }) => text);

  test.each([
    [
      [98, 100],
      ['90%', '92%', '94%', '96%', '98%', '100%'],
    ],
    [[89.99], ['80%', '85%', '90%', '95%', '100%']],
    [
      [60, 100],
      ['50%', '60%', '70%', '80%', '90%', '100%'],
    ],
    [[0], ['0%', '20%', '40%', '60%', '80%', '100%']],
  ])('of the rates %j', (rates, wanted) => {
    const axis = toRateAxis(rates);
    expect(texts(axis.ticks)).toEqual(wanted);
    expect([axis.ticks[0]?.at, axis.ticks.at(-1)?.at]).toEqual([1, 0]);
  });

  test.each([
    [[0], ['0', '1']],
    [[1], ['0', '1']],
    [[3], ['0', '1', '2', '3']],
    [[816], ['0', '200', '400', '600', '800', '1,000']],
    [[12_345], ['0', '5,000', '10K', '15K']],
    [[Number.MAX_SAFE_INTEGER], ['0', '2000T', '4000T', '6000T', '8000T', '10,000T']],
  ])('of the counts %j', (counts, wanted) => {
    expect(texts(toCountAxis(counts).ticks)).toEqual(wanted);
  });

  test.each([
    [7, ['8 Mar', '10 Mar', '12 Mar', '14 Mar']],
    [30, ['15 Feb', '22 Feb', '1 Mar', '8 Mar']],
    [90, ['Jan 2026', 'Feb 2026', 'Mar 2026']],
    [365, ['Apr 2025', 'Jul 2025', 'Oct 2025', 'Jan 2026']],
    [3_650, ['2018', '2020', '2022', '2024', '2026']],
    [1, ['14 Mar']],
  ])('of %i days', (count, wanted) => {
    expect(texts(toDateTicks(toChartColumns([], last(count)).columns))).toEqual(wanted);
  });
});

describe('the line', () => {
  const lineOf = (messages: Readonly<Record<string, number>>) => {
    const days = Object.entries(messages).map(([day, count]) => ({
      day,
      messages: count,
      aligned: count,
    }));
    return String(renderPassRate(toChartColumns(days, last(5)), []));
  };

  test('shows a day between gaps, and a first day, as a point', () => {
    const text = lineOf({ '2026-03-10': 1, '2026-03-12': 1, '2026-03-13': 1 });
    expect(text.match(/<circle class="alone" cx="([^"]+)" cy="0%"/g)).toEqual([
      '<circle class="alone" cx="10%" cy="0%"',
    ]);
    expect(lineOf({ '2026-03-12': 1 })).toContain('<circle class="alone" cx="50%"');
  });

  test('says where its axis begins when that is not at 0', () => {
    const high = lineOf({ '2026-03-10': 1 });
    expect(high).toContain('Pass rate by day, from 90%</figcaption>');
    expect(high).toContain('class="break"');
    const days = [{ day: DAY, messages: 10, aligned: 1 }];
    const low = String(renderPassRate(toChartColumns(days, last(5)), []));
    expect(low).toContain('Pass rate by day</figcaption>');
    expect(low).not.toContain('class="break"');
  });
});

describe('bars', () => {
  const bars = (messages: number, aligned: number) =>
    String(renderVolume(toChartColumns([{ day: DAY, messages, aligned }], last(1)))).match(
      /<rect class="(passed|failed)"[^>]*>/g,
    );

  test('show one failure in a million, above what passed', () => {
    expect(bars(1_000_000, 999_999)).toEqual([
      '<rect class="failed" x="0.15" y="0" width="0.7" height="1"/>',
      '<rect class="passed" x="0.15" y="1" width="0.7" height="99"/>',
    ]);
  });

  test('are none for no messages', () => {
    expect([bars(0, 0), bars(5, 5)?.length, bars(5, 0)?.length]).toEqual([null, 1, 1]);
  });
});

describe('incidents', () => {
  const range = { from: '2026-03-01', to: '2026-03-14', newest: '2026-03-14' };
  const fired = (fired_at: string, resolved_at: string | null, day?: string) => ({
    ...{ title: 'T', fired_at: `${fired_at}T04:00:00Z`, day },
    resolved_at: resolved_at === null ? null : `${resolved_at}T04:00:00Z`,
  });
  const ends = (alert: ReturnType<typeof fired>, of: typeof range = range) =>
    toIncidents([alert], of).incidents.map(({ begins, ends }) => [begins, ends]);

  test.each([
    ['within', fired('2026-03-04', '2026-03-08'), [['2026-03-04', '2026-03-08']]],
    ['about a day', fired('2026-03-04', null, '2026-03-02'), [['2026-03-02', null]]],
    ['from before', fired('2026-02-20', '2026-03-02'), [[null, '2026-03-02']]],
    ['over before', fired('2026-02-20', '2026-02-28'), []],
    ['after the newest day', fired('2026-03-17', null), [['2026-03-14', null]]],
    ['resolved after it', fired('2026-03-10', '2026-03-17'), [['2026-03-10', null]]],
  ])('%s', (_, alert, wanted) => {
    expect(ends(alert)).toEqual(wanted);
  });

  test('after a range that is older than the newest day are left out', () => {
    expect(ends(fired('2026-03-17', null), { ...range, newest: '2026-04-01' })).toEqual([]);
  });

  test('have signs above each other where they are of one day, towards the middle of the chart', () => {
    const movedOf = (aligned: number) => {
      const day = '2026-03-02';
      const { incidents } = toIncidents([fired(day, null), fired(day, null)], range);
      const days = [{ day, messages: 10, aligned }];
      const text = String(renderPassRate(toChartColumns(days, range), incidents));
      expect(text.match(/<text class="mark fired"/g)).toHaveLength(2);
      return [...text.matchAll(/<g transform="([^"]+)"><circle[^>]+><text[^>]+>(\d)/g)].map(
        ([, moved, number]) => [number, moved],
      );
    };
    expect(movedOf(10)).toEqual([['2', 'translate(0 19)']]);
    expect(movedOf(0)).toEqual([['2', 'translate(0 -19)']]);
  });

  test('are nine at most, the latest ones, numbered by time', () => {
    const all = Array.from({ length: 12 }, (_, i) => fired(addDays('2026-03-01', i), null));
    const { incidents, more } = toIncidents(all.toReversed(), range);
    expect(more).toBe(3);
    expect(incidents.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(incidents[0]?.begins).toBe('2026-03-04');
  });
});
