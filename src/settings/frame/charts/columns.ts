import { type TimeInterval, utcDay, utcMonday, utcMonth } from 'd3-time';
import type { PolicyStep } from '../../../domain/dns/policy-steps.ts';
import { addDays, countDays, type Day, toDay, toInstant } from '../../../domain/instant.ts';
import { addUp, type Counts, type DayCounts } from '../../../domain/pass-rate.ts';

/** The days from `from` to `to`, both included; 0 messages when no report covers them. */
export interface ChartColumn extends Counts {
  readonly from: Day;
  readonly to: Day;
}

export interface ChartColumns {
  readonly unit: 'day' | 'week' | 'month' | 'quarter';
  readonly columns: readonly ChartColumn[];
  readonly steps?: readonly PolicyStep[];
}

/** With more, the gaps between columns would be thinner than a pixel on a phone. */
const MAX_COLUMNS = 120;

const UNITS: readonly (readonly [ChartColumns['unit'], TimeInterval])[] = [
  ['day', utcDay],
  ['week', utcMonday],
  ['month', utcMonth],
  ['quarter', utcMonth.every(3) as TimeInterval],
];

/** All days in columns of one unit, the smallest that needs at most 120 columns. */
export function toChartColumns(
  days: readonly DayCounts[],
  { from, to }: { readonly from: Day; readonly to: Day },
): ChartColumns {
  const [unit, starts] = findStarts(from, to);
  const later = days
    .filter(({ day }) => day >= from && day <= to)
    .toSorted((a, b) => (a.day < b.day ? 1 : -1));
  const columns = starts.map((start, i) => {
    const [first, last] = [i === 0 ? from : start, addDays(starts[i + 1] ?? addDays(to, 1), -1)];
    const own: DayCounts[] = [];
    while ((later.at(-1)?.day ?? '~') <= last) own.push(later.pop() as DayCounts);
    return { from: first, to: last, ...addUp(own) };
  });
  return { unit, columns };
}

function findStarts(from: Day, to: Day): [ChartColumns['unit'], Day[]] {
  for (const [unit, interval] of UNITS) {
    const first = interval.floor(new Date(from));
    const starts = interval.range(first, new Date(addDays(to, 1)));
    if (starts.length <= MAX_COLUMNS) return [unit, starts.map((date) => toDay(toInstant(date)))];
  }
  throw new RangeError(`${from} to ${to} is too long for a chart.`);
}

/** A day outside has the nearest column. */
export function findColumn(columns: readonly ChartColumn[], day: Day): number {
  const found = columns.findIndex(({ to }) => day <= to);
  return found === -1 ? columns.length - 1 : found;
}

/** Returns where the middle of a day lies along the axis, from 0 to 1. */
export function toPosition(columns: readonly ChartColumn[], day: Day): number {
  const index = findColumn(columns, day);
  const { from, to } = columns[index] as ChartColumn;
  const within = (countDays({ from, to: day }) - 0.5) / countDays({ from, to });
  return (index + Math.min(1, Math.max(0, within))) / columns.length;
}
