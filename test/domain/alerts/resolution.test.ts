import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { type AlertFacts, type AlertType, RULES } from '../../../src/domain/alerts/registry.ts';
import { RESOLUTION_TEXTS, type Resolution } from '../../../src/domain/alerts/resolution.ts';
import { explainRule } from '../../../src/domain/alerts/rule.ts';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import { UNKNOWN_RECORD } from '../../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../../src/domain/instant.ts';
import type { TlsDay } from '../../../src/domain/tls/tls-day.ts';
import { aTlsDay } from '../tls/tls-days.ts';
import { carryOut, D, DROP, days, FAILED, FIRING, facts, NOW, payroll, times } from './facts.ts';

const TYPES = RULES.map(({ type }) => type);

const LATER = addDays(D, 9);
const later = { now: `${LATER}T06:00:00Z` };
const laterDays = (count: number, pair: readonly [number, number]) =>
  days([...DROP, ...times(count, pair)], addDays(D, count));
const resumed = { watchedSince: '2026-03-15T20:00:00Z', now: '2026-03-15T21:00:00Z' };

/** The alert of a type that fires, after what happens then. */
function afterwards(type: AlertType, change: Partial<AlertFacts>): KnownAlert | undefined {
  const start = facts(FIRING[type]);
  const alerts = carryOut(start).filter((alert) => alert.type === type);
  expect(alerts).toMatchObject([{ isOpen: true }]);
  const now = facts({ ...FIRING[type], ...change, alerts });
  return carryOut(now).find(({ id }) => id === alerts[0]?.id);
}

const RESOLUTIONS: readonly (readonly [AlertType, Resolution, string, Partial<AlertFacts>])[] = [
  [
    'alert.alignment_regression',
    'recovered',
    'a day is as good as before',
    { days: laterDays(1, [1000, 980]) },
  ],
  [
    'alert.alignment_regression',
    'new_normal',
    '14 days have passed',
    { days: laterDays(14, [1000, 400]) },
  ],
  [
    'alert.alignment_regression',
    'new_normal',
    'the days that it was compared with have gone by age',
    { days: days(times(4, [1000, 400]), addDays(D, 3)) },
  ],
  [
    'alert.alignment_regression',
    'reports_corrected',
    'the day is good after late reports',
    { days: days([...times(8, [1000, 990]), [9000, 8900]]) },
  ],
  ['alert.alignment_regression', 'paused', 'the domain was paused and resumed', { ...resumed }],
  ['alert.reports_missing', 'recovered', 'a report has come', { lastReportAt: NOW }],
  [
    'alert.reports_missing',
    'reports_corrected',
    'the last report was removed',
    { lastReportAt: null },
  ],
  [
    'alert.new_failing_source',
    'recovered',
    'the source is quiet for 7 days',
    { ...later, days: days(times(49, [1000, 990]), LATER) },
  ],
  [
    'alert.new_failing_source',
    'new_normal',
    'its day is not looked back on any more',
    { days: days(times(3, [1000, 990]), LATER), failingSources: [] },
  ],
  [
    'alert.new_failing_source',
    'reports_corrected',
    'its report was removed',
    { failingSources: [] },
  ],
  ['alert.new_failing_source', 'paused', 'the domain was paused and resumed', { ...resumed }],
  [
    'alert.dns_record_changed',
    'recovered',
    'the former value is back',
    { dns: { spf: UNKNOWN_RECORD } },
  ],
  ['alert.dns_record_changed', 'new_normal', 'nothing has changed for 7 days', { ...later }],
  ['alert.dns_record_changed', 'paused', 'the domain was paused and resumed', { ...resumed }],
  ['alert.policy_weakened', 'recovered', 'the former strength is back', { dns: {} }],
  ['alert.policy_weakened', 'paused', 'the domain was paused and resumed', { ...resumed }],
  [
    'alert.sender_failing',
    'recovered',
    'its last 20 messages pass',
    {
      days: days(times(10, [1000, 990]), addDays(D, 1)),
      senders: [payroll([0, 0, 0, 58], addDays(D, 1))],
    },
  ],
  [
    'alert.sender_failing',
    'new_normal',
    '14 data days have passed',
    {
      ...{ now: `${addDays(D, 13)}T06:00:00Z`, days: days(times(22, [1000, 990]), addDays(D, 12)) },
      senders: [payroll(Array(15).fill(0), addDays(D, 12))],
    },
  ],
  [
    'alert.sender_failing',
    'new_normal',
    'the days on which it passed have gone by age',
    { days: days(times(30, [1000, 990]), addDays(D, 25)), senders: [] },
  ],
  ['alert.sender_failing', 'reports_corrected', 'its report was removed', { senders: [] }],
  ['alert.sender_failing', 'paused', 'the domain was paused and resumed', { ...resumed }],
  [
    'alert.tls_failures',
    'recovered',
    'two days in a row were good',
    { now: `${addDays(D, 3)}T06:00:00Z`, tls: tlsDays(2) },
  ],
  [
    'alert.tls_failures',
    'new_normal',
    '14 data days have passed',
    { now: `${addDays(D, 15)}T06:00:00Z`, tls: tlsDays(14, FAILED) },
  ],
  [
    'alert.tls_failures',
    'new_normal',
    'its day has gone by age',
    { now: `${addDays(D, 15)}T06:00:00Z`, tls: tlsDays(14).slice(0, 10) },
  ],
  ['alert.tls_failures', 'reports_corrected', 'its report was removed', { tls: [] }],
  ['alert.tls_failures', 'paused', 'the domain was paused and resumed', { ...resumed }],
];

/** The day of the alert, and later ones, newest first. */
function tlsDays(later: number, changes: Partial<TlsDay> = {}): readonly TlsDay[] {
  const of = (days: number, own: Partial<TlsDay>) =>
    aTlsDay({ day: addDays(D, days), mode: 'enforce', ...own });
  return Array.from({ length: later + 1 }, (_, i) => of(i, i === 0 ? FAILED : changes)).reverse();
}

describe('the context of a resolved alert says why', () => {
  test.each(RESOLUTIONS)('%s: %s when %s', (type, resolution, _when, change) => {
    const alert = afterwards(type, change);
    expect(alert).toMatchObject({ isOpen: false, context: { resolution } });
  });

  /** An occurrence stays among those that the rule finds until its alert has resolved: else later reports would be the reason. */
  test.each(TYPES)('%s has an end of its own', (type) => {
    const ends = RESOLUTIONS.filter(([of]) => of === type).map(([, resolution]) => resolution);
    expect(ends).toContain('recovered');
  });

  test('an open alert has none', () => {
    for (const type of TYPES)
      expect(afterwards(type, {})?.context).not.toHaveProperty('resolution');
  });
});

test('the contract lists every reason, and no other', () => {
  const text = readFileSync(new URL('../../../openapi/v1.yaml', import.meta.url), 'utf8');
  const [, table = ''] = /AlertResolution:\n(.*?)\n {6}example:/s.exec(text) ?? [];
  const listed = [...table.matchAll(/^ +\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(listed).toHaveLength(4);
  expect(listed.toSorted()).toEqual(Object.keys(RESOLUTION_TEXTS).toSorted());
});

describe('explain', () => {
  const type = 'alert.alignment_regression';
  const rule = RULES.find((r) => r.type === type) as (typeof RULES)[number];
  const say = (change: Partial<AlertFacts>) => {
    const alert = afterwards(type, change) as KnownAlert;
    const known = facts({ ...FIRING[type], ...change, alerts: [alert] });
    return explainRule(rule, known, DEFAULT_THRESHOLDS).join(' ');
  };

  test('names the reason of the last resolution, and does not contradict itself', () => {
    const said = say(resumed);
    expect(said).toContain('a drop of 59 points; it fires at 10');
    expect(said).toContain(`It does not fire: the domain was resumed at ${resumed.watchedSince}`);
    expect(said).toContain(
      `The last one resolved at ${resumed.now}: paused (the domain was paused`,
    );
  });

  test('says that a drop has fired and resolved already', () => {
    const said = say({ days: laterDays(14, [1000, 400]) });
    expect(said).toContain('new_normal');
  });

  test('an open alert has no reason yet', () => {
    expect(say({})).not.toMatch(/resolved at|does not fire/);
  });
});
