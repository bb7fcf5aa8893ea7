import { z } from 'zod';
import { DEFAULT_THRESHOLDS as DEFAULTS, type Thresholds } from './domain/alerts/thresholds.ts';

/*
 * The alert thresholds from the environment. Defaults are the product's decisions; each can be changed with a
 * variable `PLUMBLINE_ALERT_…`.
 */

const count = (fallback: number, max = 1_000_000_000) =>
  z.coerce.number().int().min(1).max(max).default(fallback);
const points = (fallback: number) => z.coerce.number().min(0.01).max(100).default(fallback);
const days = (fallback: number) => count(fallback, 366);

/** The variable of each threshold, and the values it allows. */
const VARIABLES = {
  maxAgeDays: ['PLUMBLINE_ALERT_MAX_AGE_DAYS', days(DEFAULTS.maxAgeDays)],
  dropPoints: ['PLUMBLINE_ALERT_DROP_POINTS', points(DEFAULTS.dropPoints)],
  recoveryPoints: ['PLUMBLINE_ALERT_RECOVERY_POINTS', points(DEFAULTS.recoveryPoints)],
  minMessages: ['PLUMBLINE_ALERT_MIN_MESSAGES', count(DEFAULTS.minMessages)],
  baselineDays: ['PLUMBLINE_ALERT_BASELINE_DAYS', days(DEFAULTS.baselineDays)],
  regressionDays: ['PLUMBLINE_ALERT_REGRESSION_DAYS', days(DEFAULTS.regressionDays)],
  silenceHours: ['PLUMBLINE_ALERT_SILENCE_HOURS', count(DEFAULTS.silenceHours, 8784)],
  silenceReportDays: ['PLUMBLINE_ALERT_SILENCE_REPORT_DAYS', days(DEFAULTS.silenceReportDays)],
  silenceWindowDays: ['PLUMBLINE_ALERT_SILENCE_WINDOW_DAYS', days(DEFAULTS.silenceWindowDays)],
  newSourceDays: ['PLUMBLINE_ALERT_NEW_SOURCE_DAYS', days(DEFAULTS.newSourceDays)],
  newSourceMessages: ['PLUMBLINE_ALERT_NEW_SOURCE_MESSAGES', count(DEFAULTS.newSourceMessages)],
  newSourceFailPercent: [
    'PLUMBLINE_ALERT_NEW_SOURCE_FAIL_PERCENT',
    count(DEFAULTS.newSourceFailPercent, 100),
  ],
  newSourceQuietDays: ['PLUMBLINE_ALERT_NEW_SOURCE_QUIET_DAYS', days(DEFAULTS.newSourceQuietDays)],
  newSourcesListed: ['PLUMBLINE_ALERT_NEW_SOURCES_LISTED', count(DEFAULTS.newSourcesListed, 100)],
  dnsChangeDays: ['PLUMBLINE_ALERT_DNS_CHANGE_DAYS', days(DEFAULTS.dnsChangeDays)],
  dnsConfirmMinutes: [
    'PLUMBLINE_ALERT_DNS_CONFIRM_MINUTES',
    count(DEFAULTS.dnsConfirmMinutes, 1440),
  ],
} as const satisfies Record<keyof Thresholds, readonly [string, z.ZodType<number>]>;

export const THRESHOLD_VARIABLES = Object.fromEntries(Object.values(VARIABLES)) as Readonly<
  Record<string, z.ZodType<number>>
>;

/** The thresholds among the validated variables. */
export function toThresholds(data: Readonly<Record<string, unknown>>): Thresholds {
  const values = Object.entries(VARIABLES).map(([name, [variable]]) => [name, data[variable]]);
  return Object.fromEntries(values) as Thresholds;
}
