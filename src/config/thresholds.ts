import { DEFAULT_THRESHOLDS as DEFAULTS, type Thresholds } from '../domain/alerts/thresholds.ts';
import { decimal, type ValuesOf, type Variable, whole } from './variable.ts';

/*
 * The alert thresholds from the environment. Defaults are the product's decisions; each can be changed with a
 * variable `PLUMBLINE_ALERT_…`.
 */

type Name = keyof Thresholds;

/** A rule that looks back on more days would read too much of the database at each evaluation. */
const days = (name: Name) =>
  whole(DEFAULTS[name], { min: 1, max: 366, why: 'rules look back on a year at most' });
const messages = (name: Name) => whole(DEFAULTS[name], { min: 1, max: 1_000_000_000 });
/** Points of a pass rate, which has two decimals. */
const points = (name: Name) => decimal(DEFAULTS[name], { min: 0.01, max: 100 });

/** The variable of each threshold, and the values it allows. */
const VARIABLES = {
  maxAgeDays: ['PLUMBLINE_ALERT_MAX_AGE_DAYS', days('maxAgeDays')],
  dropPoints: ['PLUMBLINE_ALERT_DROP_POINTS', points('dropPoints')],
  recoveryPoints: ['PLUMBLINE_ALERT_RECOVERY_POINTS', points('recoveryPoints')],
  minMessages: ['PLUMBLINE_ALERT_MIN_MESSAGES', messages('minMessages')],
  baselineDays: ['PLUMBLINE_ALERT_BASELINE_DAYS', days('baselineDays')],
  regressionDays: ['PLUMBLINE_ALERT_REGRESSION_DAYS', days('regressionDays')],
  silenceHours: [
    'PLUMBLINE_ALERT_SILENCE_HOURS',
    whole(DEFAULTS.silenceHours, { min: 1, max: 8784, why: 'at most a year' }),
  ],
  silenceReportDays: ['PLUMBLINE_ALERT_SILENCE_REPORT_DAYS', days('silenceReportDays')],
  silenceWindowDays: ['PLUMBLINE_ALERT_SILENCE_WINDOW_DAYS', days('silenceWindowDays')],
  newSourceDays: ['PLUMBLINE_ALERT_NEW_SOURCE_DAYS', days('newSourceDays')],
  newSourceMessages: ['PLUMBLINE_ALERT_NEW_SOURCE_MESSAGES', messages('newSourceMessages')],
  newSourceFailPercent: [
    'PLUMBLINE_ALERT_NEW_SOURCE_FAIL_PERCENT',
    whole(DEFAULTS.newSourceFailPercent, { min: 1, max: 100, why: 'it counts failures in 100' }),
  ],
  newSourceQuietDays: ['PLUMBLINE_ALERT_NEW_SOURCE_QUIET_DAYS', days('newSourceQuietDays')],
  newSourcesListed: [
    'PLUMBLINE_ALERT_NEW_SOURCES_LISTED',
    whole(DEFAULTS.newSourcesListed, { min: 1, max: 100, why: 'an alert is a short message' }),
  ],
  dnsChangeDays: ['PLUMBLINE_ALERT_DNS_CHANGE_DAYS', days('dnsChangeDays')],
  dnsConfirmMinutes: [
    'PLUMBLINE_ALERT_DNS_CONFIRM_MINUTES',
    whole(DEFAULTS.dnsConfirmMinutes, { min: 1, max: 1440, why: 'at most a day' }),
  ],
} as const satisfies Record<Name, readonly [string, Variable<number>]>;

export const THRESHOLD_VARIABLES = Object.fromEntries(Object.values(VARIABLES)) as Readonly<
  Record<(typeof VARIABLES)[Name][0], Variable<number>>
>;

/** The thresholds among the values of all variables. */
export function toThresholds(values: ValuesOf<typeof THRESHOLD_VARIABLES>): Thresholds {
  const named = Object.entries(VARIABLES).map(([name, [variable]]) => [name, values[variable]]);
  return Object.fromEntries(named) as Thresholds;
}

/** A line for each threshold that contradicts another one, so that its alert could never fire or never stay open. */
export function listContradictions(t: Thresholds): string[] {
  const problems: string[] = [];
  const add = (name: Name, rule: string) => problems.push(`${VARIABLES[name][0]}: ${rule}`);
  if (t.silenceHours > t.maxAgeDays * 24)
    add(
      'silenceHours',
      `must be at most ${t.maxAgeDays * 24}: when the last report is older than PLUMBLINE_ALERT_MAX_AGE_DAYS (${t.maxAgeDays}), nothing fires`,
    );
  if (t.recoveryPoints >= t.dropPoints)
    add(
      'recoveryPoints',
      `must be less than PLUMBLINE_ALERT_DROP_POINTS (${t.dropPoints}): an alert would resolve while its cause lasts`,
    );
  if (t.silenceReportDays > t.silenceWindowDays)
    add(
      'silenceReportDays',
      `must be at most PLUMBLINE_ALERT_SILENCE_WINDOW_DAYS (${t.silenceWindowDays}): so many days cannot have reports`,
    );
  return problems;
}
