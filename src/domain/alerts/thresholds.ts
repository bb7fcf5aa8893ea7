/** The defaults of the variables `PLUMBLINE_ALERT_…`. Points are of a pass rate from 0 to 100. */
export const DEFAULT_THRESHOLDS = {
  /** Whether reports of no established reporter can fire an alert. */
  unauthenticated: 'on',
  /** A day older than this fires nothing. */
  maxAgeDays: 4,
  dropPoints: 10,
  recoveryPoints: 5,
  minMessages: 100,
  baselineDays: 7,
  regressionDays: 14,
  silenceHours: 72,
  silenceReportDays: 5,
  silenceWindowDays: 14,
  newSourceDays: 30,
  newSourceMessages: 20,
  newSourceFailPercent: 90,
  newSourceQuietDays: 7,
  newSourcesListed: 10,
  senderMessages: 20,
  senderPercent: 90,
  dnsChangeDays: 7,
  dnsConfirmMinutes: 10,
} as const;

type Defaults = Omit<typeof DEFAULT_THRESHOLDS, 'unauthenticated'>;
export type Thresholds = Readonly<Record<keyof Defaults, number>> & {
  readonly unauthenticated: 'on' | 'off';
};

/** The largest number of data days that a rule looks back on. */
export function daysNeeded(t: Thresholds): number {
  // A day that may still fire is among the latest `maxAgeDays + 2`, which include today and tomorrow.
  const fresh = t.maxAgeDays + 2;
  return (
    fresh + Math.max(t.baselineDays + t.regressionDays, t.newSourceDays + t.newSourceQuietDays)
  );
}
