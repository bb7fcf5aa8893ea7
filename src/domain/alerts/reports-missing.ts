import { addDays, type Day, hoursBetween, type Instant, toDay } from '../instant.ts';
import { formatTime } from '../text.ts';
import { type AlertContext, formatNumber } from './context.ts';
import type { CommonFacts } from './facts.ts';
import { type AlertRule, findOpen, isFresh, isWatched } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

const TYPE = 'alert.reports_missing';

export interface Receipts {
  /** When the newest report was received. */
  readonly lastReportAt: Instant | null;
  /** The latest days on which reports came in, oldest first; none while the last report is too new for an alert. */
  readonly receipts: readonly { readonly day: Day; readonly reports: number }[];
}

type Facts = CommonFacts & Receipts;

/**
 * Reports came regularly and then stopped. This compares times of receipt, not the days that reports cover. Day and
 * subject are those of the last receipt, so the next report resolves the alert. The figures stay those of the firing.
 */
export const reportsMissing: AlertRule<typeof TYPE, Facts> = {
  type: TYPE,
  isSingle: true,
  findOccurrences: (facts, thresholds) => {
    const silence = findSilence(facts, thresholds);
    if (silence === undefined || silence.hours < thresholds.silenceHours) return [];
    const { lastReportAt: subject } = silence;
    const open = findOpen(facts, TYPE, subject);
    if (open !== undefined) return [{ subject, ending: null, context: open.context }];
    const mayFire =
      isFresh(silence.day, facts, thresholds) && silence.reportDays >= thresholds.silenceReportDays;
    return mayFire ? [{ subject, ending: null, context: toContext(silence, thresholds) }] : [];
  },
  findEnding: ({ subject }, { lastReportAt }) =>
    lastReportAt !== null && lastReportAt > subject ? 'recovered' : undefined,
  explain: (facts, thresholds) => {
    const silence = findSilence(facts, thresholds);
    if (silence === undefined) return ['Not open: no report has been received yet.'];
    const isOpen = findOpen(facts, TYPE, silence.lastReportAt) !== undefined;
    return [
      `${isOpen ? 'Open' : 'Not open'}: the last report was received at ${silence.lastReportAt}, ${silence.hours} hours ago.`,
      `It fires when that is ${thresholds.silenceHours} hours ago, and only while the UTC day of that report, ${silence.day}, is at most ${thresholds.maxAgeDays} days ago.`,
      `Reports came on ${silence.reportDays} of the ${thresholds.silenceWindowDays} days up to then; it takes ${thresholds.silenceReportDays}.`,
      ...(isOpen ? ['It resolves when the next report is stored.'] : []),
    ];
  },
  title: 'Reports missing',
  describe: describeSilence,
  advice: 'Reports have stopped: make sure that DNS still asks for them.',
  urgency: 7,
  link: 'dns',
  isLasting: false,
};

interface Silence {
  readonly lastReportAt: Instant;
  readonly day: Day;
  readonly hours: number;
  readonly reportDays: number;
  readonly reports: number;
}

function findSilence(
  { now, lastReportAt, receipts, watchedSince }: Facts,
  { silenceWindowDays }: Thresholds,
): Silence | undefined {
  if (lastReportAt === null) return undefined;
  const day = toDay(lastReportAt);
  const from = addDays(day, 1 - silenceWindowDays);
  const window = receipts.filter((r) => r.day >= from && isWatched(r.day, watchedSince));
  return {
    lastReportAt,
    day,
    hours: hoursBetween(lastReportAt, now),
    reportDays: window.length,
    reports: window.reduce((sum, { reports }) => sum + reports, 0),
  };
}

function toContext({ lastReportAt, hours, reports }: Silence, { silenceWindowDays }: Thresholds) {
  return {
    last_report_at: lastReportAt,
    hours_since_last_report: hours,
    previous_daily_average: Math.round((reports * 100) / silenceWindowDays) / 100,
  };
}

function describeSilence(context: AlertContext): string {
  const last = context['last_report_at'];
  const since = typeof last === 'string' ? ` The last one came on ${formatTime(last)}.` : '';
  const average = formatNumber(context['previous_daily_average']);
  return `No report for ${formatNumber(context['hours_since_last_report'])} hours; before, ${average} came on an average day.${since}`;
}
