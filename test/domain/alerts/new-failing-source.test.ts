import { describe, expect, test } from 'vitest';
import type { FailingSource } from '../../../src/domain/alerts/new-failing-source.ts';
import type { AlertFacts } from '../../../src/domain/alerts/registry.ts';
import { addDays } from '../../../src/domain/instant.ts';
import { carryOut, D, days, facts, times } from './facts.ts';

const history = days(times(31, [1000, 990]));
const source = (given: Partial<FailingSource> = {}): FailingSource => ({
  day: D,
  address: '192.0.2.66',
  service: null,
  messages: 20,
  aligned: 2,
  absentDays: null,
  laterFailingDays: [],
  ...given,
});
const seen = (known: Partial<AlertFacts> = {}) =>
  facts({ days: history, failingSources: [source()], ...known });
const isOpen = (known: AlertFacts) => carryOut(known).some((alert) => alert.isOpen);

describe('fires', () => {
  test.each<[string, boolean, Partial<AlertFacts>]>([
    ['an address never seen', true, {}],
    ['one last seen 31 data days ago', true, { failingSources: [source({ absentDays: 30 })] }],
    ['one last seen 30 data days ago', false, { failingSources: [source({ absentDays: 29 })] }],
    ['no failing source', false, { failingSources: [] }],
    ['on the first day with data', false, { days: history.slice(-1) }],
    [
      'on the first day with messages',
      false,
      { days: history.map((day) => (day.day < D ? { ...day, messages: 0, aligned: 0 } : day)) },
    ],
    ['four days later', true, { now: '2026-03-18T23:00:00Z' }],
    ['five days later', false, { now: '2026-03-19T00:00:00Z' }],
    ['resumed since', false, { watchedSince: '2026-03-15T00:00:00Z' }],
  ])('%s: %s', (_what, wanted, known) => {
    expect(isOpen(seen(known))).toBe(wanted);
  });

  test('context: at most ten sources, those with the most failures first, and totals of all', () => {
    const failingSources = Array.from({ length: 12 }, (_, i) =>
      source({ address: `192.0.2.${i + 1}`, messages: 100 + i, aligned: i % 2 }),
    );
    const [alert] = carryOut(seen({ failingSources }));
    expect(alert?.subject).toBe(D);
    const { sources, ...rest } = (alert?.context ?? {}) as { sources: { ip: string }[] };
    expect(rest).toStrictEqual({
      day: D,
      message_count: 1266,
      failed_count: 1260,
      additional_sources: 2,
    });
    expect(sources).toHaveLength(10);
    expect(sources[0]).toStrictEqual({
      ...{ ip: '192.0.2.11', message_count: 110, failed_count: 110, service: null },
    });
    // 102 − 0 and 103 − 1 fail equally often, so the address decides.
    expect(sources.at(-1)?.ip).toBe('192.0.2.4');
  });

  test('one alert for each day', () => {
    const failingSources = [source(), source({ day: addDays(D, -1), address: '192.0.2.67' })];
    const alerts = carryOut(seen({ failingSources }));
    expect(alerts.map(({ subject }) => subject)).toEqual([addDays(D, -1), D]);
  });
});

describe('resolves', () => {
  const alerts = carryOut(seen());
  const dayAfter = (quiet: number, laterFailingDays: string[] = []) =>
    seen({
      alerts,
      days: days(times(31 + quiet, [1000, 990]), addDays(D, quiet)),
      now: `${addDays(D, quiet + 1)}T06:00:00Z`,
      failingSources: [source({ laterFailingDays })],
    });

  test.each<[string, boolean, AlertFacts]>([
    ['six data days without', true, dayAfter(6)],
    ['seven data days without', false, dayAfter(7)],
    ['six data days since it failed last', true, dayAfter(8, [addDays(D, 2)])],
    ['seven data days since it failed last', false, dayAfter(9, [addDays(D, 2)])],
    ['seven without, and then again, which is nothing new', false, dayAfter(9, [addDays(D, 8)])],
    ['months without any data', true, seen({ alerts, now: '2026-08-01T00:00:00Z' })],
  ])('%s: open %s', (_what, wanted, known) => {
    expect(isOpen(known)).toBe(wanted);
  });

  test('at once when the domain is resumed', () => {
    expect(isOpen(seen({ alerts, watchedSince: '2026-03-15T00:00:00Z' }))).toBe(false);
  });
});
