import { addDays, countDays, type Day, type DayRange } from '../instant.ts';

/*
 * The periods for which the store keeps sums of what addresses sent, so that a long range reads few rows (decision
 * 103): a third of a month (`2026-11-0`: 1 to 9, `2026-11-1`: 10 to 19, `2026-11-2`: 20 to the end), a month
 * (`2026-11`) and a quarter (`2026-Q4`).
 */
export type Period = string;

/**
 * `stale`: days of it changed, so it has to be summed. `summed`: the stored sums are correct. `days`: it has no sums,
 * because its days have so few rows, or so many addresses, that sums are not worth their space.
 */
export type PeriodState = 'stale' | 'summed' | 'days';

export type PeriodStates = ReadonlyMap<Period, PeriodState>;

/** Periods in the order in which they are summed: longer ones are made of shorter ones. */
export const LEVELS = ['third', 'month', 'quarter'] as const;
export type Level = (typeof LEVELS)[number];

/** The third of a month that a day belongs to. A change of the day makes it stale. */
export function toThird(day: Day): Period {
  return `${day.slice(0, 8)}${Math.min(2, Number(day[8]))}`;
}

export function toLonger(third: Period): readonly Period[] {
  const month = third.slice(0, 7);
  const quarter = Math.ceil(Number(month.slice(5)) / 3);
  return [month, `${month.slice(0, 4)}-Q${quarter}`];
}

export function levelOf(period: Period): Level {
  if (period.length > 7) return 'third';
  return period[5] === 'Q' ? 'quarter' : 'month';
}

export function rangeOf(period: Period): DayRange {
  const months = monthsOf(period);
  const [first, last] = [months[0] ?? '', months.at(-1) ?? ''];
  const third = period[8];
  return {
    from: third === undefined || third === '0' ? `${first}-01` : `${first}-${third}0`,
    to: third === undefined || third === '2' ? lastDayOf(last) : `${first}-${third}9`,
  };
}

function monthsOf(period: Period): readonly string[] {
  if (levelOf(period) !== 'quarter') return [period.slice(0, 7)];
  const last = Number(period[6]) * 3;
  return [last - 2, last - 1, last].map(
    (m) => `${period.slice(0, 5)}${String(m).padStart(2, '0')}`,
  );
}

function lastDayOf(month: string): Day {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return `${month}-${new Date(Date.UTC(year, number, 0)).getUTCDate()}`;
}

/** Days that a range consists of: those of periods that are summed, and the others. */
export interface Cover {
  readonly periods: readonly Period[];
  readonly days: readonly Day[];
}

/** The longest periods in a range with correct sums, and the other days. `states` has the range's whole years. */
export function coverRange({ from, to }: DayRange, states: PeriodStates): Cover {
  const periods: Period[] = [];
  const days: Day[] = [];
  let left = countDays({ from, to });
  for (let day = from; left > 0; ) {
    const period = periodsFrom(day).find(
      (one) => rangeOf(one).to <= to && hasCorrectSums(one, states),
    );
    if (period === undefined) days.push(day);
    else periods.push(period);
    const covered = period === undefined ? 1 : countDays(rangeOf(period));
    left -= covered;
    day = addDays(day, covered);
  }
  return { periods, days };
}

/** The periods that begin with a day, longest first. */
function periodsFrom(day: Day): readonly Period[] {
  if (!/-(01|10|20)$/.test(day)) return [];
  const third = toThird(day);
  return [third, ...toLonger(third)].filter((one) => rangeOf(one).from === day).reverse();
}

/** A change makes only its third of a month stale. So a longer period's sums are correct when no third is stale. */
function hasCorrectSums(period: Period, states: PeriodStates): boolean {
  return states.get(period) === 'summed' && !hasStale(period, states);
}

/** Whether days of a period changed that are not summed yet. */
export function hasStale(period: Period, states: PeriodStates): boolean {
  return thirdsOf(period).some((third) => states.get(third) === 'stale');
}

function thirdsOf(period: Period): readonly Period[] {
  if (levelOf(period) === 'third') return [period];
  return monthsOf(period).flatMap((month) => [0, 1, 2].map((third) => `${month}-${third}`));
}

/** Reports of a day still come in for some days after it. */
const LATE_DAYS = 3;

/** Whether a period ended so long ago that most of its reports have come in. */
export function isOver(period: Period, today: Day): boolean {
  return rangeOf(period).to < addDays(today, -LATE_DAYS);
}
