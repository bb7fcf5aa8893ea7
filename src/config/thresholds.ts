import { DEFAULT_THRESHOLDS as DEFAULTS, type Thresholds } from '../domain/alerts/thresholds.ts';
import type { Environment } from './environment.ts';
import { choice, decimal, type Variable, whole } from './variable.ts';

/** A rule that looks back on more days would read too much of the database at each evaluation. */
const DAYS = { min: 1, max: 366, why: 'rules look back on a year at most' };
const MESSAGES = { min: 1, max: 1_000_000_000 };
const HOURS = { min: 1, max: 8784, why: 'at most a year' };
const MINUTES = { min: 1, max: 1440, why: 'at most a day' };
const PERCENT = { min: 1, max: 100, why: 'it counts failures in 100' };
const LISTED = { min: 1, max: 100, why: 'an alert is a short message' };
/** Points of a pass rate, which has two decimals. */
const POINTS = { min: 0.01, max: 100 };

const VARIABLES = {
  unauthenticated: choice('PLUMBLINE_ALERT_UNAUTHENTICATED', ['on', 'off'], 'on'),
  maxAgeDays: whole('PLUMBLINE_ALERT_MAX_AGE_DAYS', DEFAULTS.maxAgeDays, DAYS),
  dropPoints: decimal('PLUMBLINE_ALERT_DROP_POINTS', DEFAULTS.dropPoints, POINTS),
  recoveryPoints: decimal('PLUMBLINE_ALERT_RECOVERY_POINTS', DEFAULTS.recoveryPoints, POINTS),
  minMessages: whole('PLUMBLINE_ALERT_MIN_MESSAGES', DEFAULTS.minMessages, MESSAGES),
  baselineDays: whole('PLUMBLINE_ALERT_BASELINE_DAYS', DEFAULTS.baselineDays, DAYS),
  regressionDays: whole('PLUMBLINE_ALERT_REGRESSION_DAYS', DEFAULTS.regressionDays, DAYS),
  silenceHours: whole('PLUMBLINE_ALERT_SILENCE_HOURS', DEFAULTS.silenceHours, HOURS),
  silenceReportDays: whole('PLUMBLINE_ALERT_SILENCE_REPORT_DAYS', DEFAULTS.silenceReportDays, DAYS),
  silenceWindowDays: whole('PLUMBLINE_ALERT_SILENCE_WINDOW_DAYS', DEFAULTS.silenceWindowDays, DAYS),
  newSourceDays: whole('PLUMBLINE_ALERT_NEW_SOURCE_DAYS', DEFAULTS.newSourceDays, DAYS),
  newSourceMessages: whole(
    'PLUMBLINE_ALERT_NEW_SOURCE_MESSAGES',
    DEFAULTS.newSourceMessages,
    MESSAGES,
  ),
  newSourceFailPercent: whole(
    'PLUMBLINE_ALERT_NEW_SOURCE_FAIL_PERCENT',
    DEFAULTS.newSourceFailPercent,
    PERCENT,
  ),
  newSourceQuietDays: whole(
    'PLUMBLINE_ALERT_NEW_SOURCE_QUIET_DAYS',
    DEFAULTS.newSourceQuietDays,
    DAYS,
  ),
  newSourcesListed: whole('PLUMBLINE_ALERT_NEW_SOURCES_LISTED', DEFAULTS.newSourcesListed, LISTED),
  senderMessages: whole('PLUMBLINE_ALERT_SENDER_MESSAGES', DEFAULTS.senderMessages, MESSAGES),
  senderPercent: whole('PLUMBLINE_ALERT_SENDER_PERCENT', DEFAULTS.senderPercent, PERCENT),
  dnsChangeDays: whole('PLUMBLINE_ALERT_DNS_CHANGE_DAYS', DEFAULTS.dnsChangeDays, DAYS),
  dnsConfirmMinutes: whole(
    'PLUMBLINE_ALERT_DNS_CONFIRM_MINUTES',
    DEFAULTS.dnsConfirmMinutes,
    MINUTES,
  ),
} satisfies Record<keyof Thresholds, Variable<number | 'on' | 'off'>>;

/** Refuses a threshold that contradicts another one, so that its alert could never fire or never stay open. */
export function readThresholds(environment: Environment): Thresholds {
  const thresholds = environment.read(VARIABLES);
  const { maxAgeDays, silenceHours, recoveryPoints, dropPoints } = thresholds;
  const { silenceReportDays, silenceWindowDays } = thresholds;
  environment.refuse(
    silenceHours > maxAgeDays * 24,
    `PLUMBLINE_ALERT_SILENCE_HOURS: must be at most ${maxAgeDays * 24}: when the last report is older than PLUMBLINE_ALERT_MAX_AGE_DAYS (${maxAgeDays}), nothing fires`,
  );
  environment.refuse(
    recoveryPoints >= dropPoints,
    `PLUMBLINE_ALERT_RECOVERY_POINTS: must be less than PLUMBLINE_ALERT_DROP_POINTS (${dropPoints}): an alert would resolve while its cause lasts`,
  );
  environment.refuse(
    silenceReportDays > silenceWindowDays,
    `PLUMBLINE_ALERT_SILENCE_REPORT_DAYS: must be at most PLUMBLINE_ALERT_SILENCE_WINDOW_DAYS (${silenceWindowDays}): so many days cannot have reports`,
  );
  return thresholds;
}
