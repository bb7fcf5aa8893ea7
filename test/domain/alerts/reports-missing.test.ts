import { describe, expect, test } from 'vitest';
import type { AlertFacts } from '../../../src/domain/alerts/registry.ts';
import { addDays } from '../../../src/domain/instant.ts';
import { carryOut, facts } from './facts.ts';

const LAST = '2026-03-10T04:00:00Z';

/** Five days with reports, up to the last one. */
const five = [0, 1, 2, 3, 13]
  .map((ago) => ({ day: addDays('2026-03-10', -ago), reports: 4 }))
  .reverse();
const silent = (known: Partial<AlertFacts> = {}) =>
  facts({ lastReportAt: LAST, receipts: five, now: '2026-03-13T04:00:00Z', ...known });
const isOpen = (known: AlertFacts) => carryOut(known).some((alert) => alert.isOpen);

describe('fires', () => {
  test.each<[string, boolean, Partial<AlertFacts>]>([
    ['exactly 72 hours without a report', true, {}],
    ['a second less', false, { now: '2026-03-13T03:59:59Z' }],
    ['reports on four of the 14 days', false, { receipts: five.slice(1) }],
    [
      'the fifth one day too early',
      false,
      { receipts: [{ day: '2026-02-24', reports: 4 }, ...five.slice(1)] },
    ],
    ['evaluated on the fourth day after', true, { now: '2026-03-14T23:59:59Z' }],
    ['evaluated on the fifth day after', false, { now: '2026-03-15T00:00:00Z' }],
    ['no report ever', false, { lastReportAt: null, receipts: [] }],
    ['resumed since', false, { watchedSince: '2026-03-11T00:00:00Z' }],
    [
      'resumed so late that only four days are left',
      false,
      { watchedSince: '2026-03-07T00:00:00Z' },
    ],
    [
      'a year of reports received on one day',
      false,
      { receipts: [{ day: '2026-03-10', reports: 365 }] },
    ],
  ])('%s: %s', (_what, wanted, known) => {
    expect(isOpen(silent(known))).toBe(wanted);
  });

  test('context: the last report, the hours since, and the reports per day of the 14 days', () => {
    expect(carryOut(silent())[0]?.context).toStrictEqual({
      last_report_at: LAST,
      hours_since_last_report: 72,
      previous_daily_average: 1.43,
    });
  });
});

describe('resolves', () => {
  const alerts = carryOut(silent());

  test('not while reports are missing, and its context stays as it fired', () => {
    expect(carryOut(silent({ alerts, now: '2026-06-01T00:00:00Z' }))).toEqual(alerts);
  });

  test('with the next report; later missing reports are another alert', () => {
    const lastReportAt = '2026-03-14T09:00:00Z';
    const receipts = [...five, { day: '2026-03-14', reports: 1 }];
    const ended = carryOut(silent({ alerts, lastReportAt, receipts, now: lastReportAt }));
    expect(ended.map((alert) => alert.isOpen)).toEqual([false]);
    const again = carryOut(
      silent({ alerts: ended, lastReportAt, receipts, now: '2026-03-17T09:00:00Z' }),
    );
    expect(again.map((alert) => alert.isOpen)).toEqual([false, true]);
  });

  test('with the next report, even without an evaluation before reports are missing again', () => {
    const lastReportAt = '2026-03-14T09:00:00Z';
    const receipts = [...five, { day: '2026-03-14', reports: 1 }];
    const later = silent({ alerts, lastReportAt, receipts, now: '2026-03-17T09:00:00Z' });
    expect(carryOut(later).map(({ isOpen, subject }) => [subject, isOpen])).toEqual([
      [LAST, false],
      [lastReportAt, true],
    ]);
  });
});
