import { scaleLinear, scaleUtc } from 'd3-scale';
import { utcDay } from 'd3-time';
import { addDays, countDays, type Day } from '../../../domain/instant.ts';
import { formatAxisDays, formatShortCount } from '../text.ts';
import { type Column, toPosition } from './columns.ts';

/** A label at an axis, and where: from 0 (left or top) to 1. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** A value's height, from 0 (top) to 1, and the labels beside the axis. */
export interface Axis {
  readonly toY: (value: number) => number;
  readonly ticks: readonly Tick[];
}

const TICKS = 5;
/** The lowest rates that an axis begins with: a fall from 99 % to 97 % is to be seen. */
const FLOORS = [90, 80, 50];

/** From 100 % down to a round number under the lowest rate. */
export function toRateAxis(rates: readonly number[]): Axis {
  const floor = FLOORS.find((known) => rates.every((rate) => rate >= known)) ?? 0;
  const scale = scaleLinear([floor, 100], [1, 0]);
  return { toY: scale, ticks: scale.ticks(TICKS).map((at) => ({ at: scale(at), text: `${at}%` })) };
}

/** From 0 up to a round number over the largest count. */
export function toCountAxis(counts: readonly number[]): Axis {
  const scale = scaleLinear([0, Math.max(1, ...counts)], [1, 0]).nice(TICKS - 1);
  const ticks = scale.ticks(TICKS - 1).filter(Number.isInteger);
  return { toY: scale, ticks: ticks.map((at) => ({ at: scale(at), text: formatShortCount(at) })) };
}

/** Dates along the axis, at the beginnings of days, weeks, months or years, by the length of the range. */
export function toDateTicks(columns: readonly Column[]): Tick[] {
  const [from, to] = [columns[0]?.from, columns.at(-1)?.to];
  if (from === undefined || to === undefined) return [];
  const days = findDates(from, to).map((date) => date.toISOString().slice(0, 10));
  const texts = formatAxisDays(days);
  return days.map((day, i) => ({ at: toPosition(columns, day), text: texts[i] as string }));
}

function findDates(from: Day, to: Day): Date[] {
  const [first, end] = [new Date(from), new Date(addDays(to, 1))];
  const count = countDays({ from, to });
  // The scale begins again with each month: two labels of neighbouring days would overlap.
  if (count <= 14) return utcDay.range(first, end, Math.ceil(count / TICKS));
  return scaleUtc([first, end], [0, 1])
    .ticks(TICKS - 1)
    .filter((date) => date < end);
}
