import { type DemoDomain, DOMAINS, REPORTERS, toRecords } from './traffic.ts';

const DAY_MS = 86_400_000;

/** An alert that the demo's traffic gives reason for. */
export interface DemoAlert {
  readonly domain: string;
  readonly firedAt: Date;
  readonly resolvedAt: Date | null;
  readonly context: Readonly<Record<string, number>>;
}

/** The alignment regressions in the demo's traffic: one over and done with, one still open. */
export function demoAlerts(today: Date): DemoAlert[] {
  const midnight = Math.floor(today.getTime() / DAY_MS) * DAY_MS;
  const reported = (daysAgo: number) =>
    new Date(Math.min(midnight - (daysAgo - 1) * DAY_MS + 4 * 3_600_000, today.getTime()));
  return DOMAINS.flatMap((domain) =>
    domain.senders.flatMap(({ broken }) => {
      if (broken === undefined) return [];
      const [first, last] = broken;
      const resolvedAt = last > 1 ? reported(last - 1) : null;
      const context = toContext(domain, { midnight, daysAgo: first });
      return [{ domain: domain.name, firedAt: reported(first), resolvedAt, context }];
    }),
  );
}

function toContext(
  domain: DemoDomain,
  { midnight, daysAgo }: { midnight: number; daysAgo: number },
) {
  const rate = (days: readonly number[]) => passRate(domain, midnight, days);
  const prev = toHundredths(rate([1, 2, 3, 4, 5, 6, 7].map((d) => daysAgo + d)));
  const curr = toHundredths(rate([daysAgo]));
  return { drop_pct: toHundredths(prev - curr), prev_pass_rate: prev, curr_pass_rate: curr };
}

/** Percent of the messages on some days that passed DMARC. */
function passRate(domain: DemoDomain, midnight: number, days: readonly number[]): number {
  const records = days.flatMap((daysAgo) =>
    REPORTERS.flatMap((reporter) =>
      toRecords(domain, reporter, { day: new Date(midnight - daysAgo * DAY_MS), daysAgo }),
    ),
  );
  const sum = (some: typeof records) => some.reduce((total, { count }) => total + count, 0);
  return (
    (sum(records.filter(({ dkim, spf }) => dkim === 'pass' || spf === 'pass')) / sum(records)) * 100
  );
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
