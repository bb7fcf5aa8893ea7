import { addUp, type DayCounts } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import { WINDOW_DAYS } from '../../domain/readiness.ts';
import type { JudgeDeps } from '../../store/days/judged.ts';
import type { SettingsDeps } from '../deps.ts';

export type OwnDeps = Pick<SettingsDeps, 'store' | 'networks' | 'days'>;

export function toJudgeDeps({ store: { reader }, days, networks }: OwnDeps): JudgeDeps {
  return { reader, days, networks };
}

/** The days that the next step depends on: a month that ends with the newest day that has data. */
export function toStepWindow(newest: Day): DayRange {
  return { from: addDays(newest, 1 - WINDOW_DAYS), to: newest };
}

/** All messages of these days, and of as many before. */
export function countWindow(days: readonly DayCounts[], { from, to }: DayRange) {
  const listDays = (first: Day, last: Day) => days.filter(({ day }) => day >= first && day <= last);
  const latest = listDays(from, to);
  return {
    counts: addUp(latest),
    before: addUp(listDays(addDays(from, -WINDOW_DAYS), addDays(from, -1))),
    dataDays: latest.filter(({ messages }) => messages > 0).length,
  };
}
