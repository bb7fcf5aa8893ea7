import { describe, expect, test } from 'vitest';
import { findAlertText } from '../../../src/domain/alerts/alert-texts.ts';
import type { KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { addDays, type Day } from '../../../src/domain/instant.ts';
import type { TlsDay } from '../../../src/domain/tls/tls-day.ts';
import { aCause, aTlsDay } from '../tls/tls-days.ts';
import { carryOut, facts } from './facts.ts';

const TYPE = 'alert.tls_failures';
const FIRST: Day = '2026-03-10';

/** Of one type of policy: sessions with TLS as asked, and those of each reporter without it. */
type Told = Partial<TlsDay> & { readonly good?: number; readonly failed?: readonly number[] };

function toDay(day: Day, { good = 0, failed = [], ...changes }: Told): TlsDay {
  const causes = failed.map((sessions, i) => aCause({ sessions, reporter: `Provider ${i + 1}` }));
  return aTlsDay({ day, mode: 'enforce', successes: good, causes, ...changes });
}

/** What happens when the days come one after the other. */
function tell(days: readonly (readonly Told[])[]): string[] {
  const known = facts();
  const events: string[] = [];
  let alerts: readonly KnownAlert[] = known.alerts;
  let tls: readonly TlsDay[] = [];
  for (const [i, told] of days.entries()) {
    const day = addDays(FIRST, i);
    tls = [...told.map((one) => toDay(day, one)), ...tls];
    const now = `${addDays(day, 1)}T06:00:00Z`;
    const next = carryOut({ ...known, now, tls, alerts, lastReportAt: null });
    for (const { id, subject, isOpen, context } of next) {
      const before = alerts.find((one) => one.id === id);
      if (before === undefined) events.push(`${i} ${subject}`);
      if (!isOpen && before?.isOpen !== false)
        events.push(`${i} ${subject} ${context['resolution']}`);
    }
    alerts = next;
  }
  return events;
}

const GOOD = { good: 8 };
const sameDays = (count: number, told: Told) => Array.from({ length: count }, () => [told]);

test.each<[string, readonly (readonly Told[])[], readonly string[]]>([
  ['twenty failures that are 2 %', [[{ good: 980, failed: [20] }]], ['0 enforced']],
  ['twenty failures that are less', [[{ good: 981, failed: [20] }]], []],
  ['nineteen failures of one reporter on one day', [[{ failed: [19] }]], []],
  ['three failures of two reporters', [[{ good: 27, failed: [2, 1] }]], ['0 enforced']],
  ['three failures of two reporters that are less than 10 %', [[{ good: 28, failed: [2, 1] }]], []],
  ['two failures of two reporters', [[{ failed: [1, 1] }]], []],
  [
    'two days of one reporter',
    [[{ good: 2, failed: [1] }], [{ good: 2, failed: [2] }]],
    ['1 enforced'],
  ],
  ['two days, on one of which it is little', [[{ good: 98, failed: [2] }], [{ failed: [2] }]], []],
  ['two days with a good one between them', [[{ failed: [2] }], [GOOD], [{ failed: [2] }]], []],
  [
    'two days without reports between them',
    [[{ failed: [2] }], [], [], [{ failed: [2] }]],
    ['3 enforced'],
  ],
  ['a policy in testing', [[{ mode: 'testing', failed: [20] }]], ['0 not_enforced']],
  [
    'no policy',
    [[{ policyType: 'no-policy-found', mode: null, failed: [20] }]],
    ['0 not_enforced'],
  ],
  ['a mode that is not known', [[{ mode: null, failed: [20] }]], ['0 not_enforced']],
  ['a policy that is withdrawn', [[{ mode: 'none', failed: [500] }]], []],
  [
    ...(['DANE fails where MTA-STS passes'] as const),
    [[{ good: 900 }, { policyType: 'tlsa', mode: null, good: 900, failed: [20] }]],
    ['0 enforced'],
  ],
  [
    ...(['types are not added up'] as const),
    [[{ failed: [10] }, { policyType: 'tlsa', mode: null, failed: [10] }]],
    [],
  ],
  [
    ...(['two good days end it'] as const),
    [
      [{ failed: [20] }],
      [GOOD],
      [{ failed: [20] }],
      [{ good: 60, failed: [1] }],
      [{ good: 9, failed: [1] }],
    ],
    ['0 enforced', '4 enforced recovered'],
  ],
  [
    ...(['good days of one session are too few'] as const),
    [[{ failed: [20] }], [{ good: 1 }], [{ good: 1 }], [{ good: 2 }]],
    ['0 enforced', '3 enforced recovered'],
  ],
  [
    ...(['no good day while another type fails'] as const),
    [
      [{ failed: [20] }],
      ...sameDays(1, GOOD),
      [GOOD, { policyType: 'tlsa', mode: null, failed: [2] }],
    ],
    ['0 enforced'],
  ],
  [
    ...(['after fourteen days it is normal, and may fire on the day after'] as const),
    sameDays(16, { failed: [20] }),
    ['0 enforced', '14 enforced new_normal', '15 enforced'],
  ],
  [
    ...(['both groups have one each'] as const),
    sameDays(3, { failed: [20] }).map(([one = {}]) => [one, { ...one, mode: 'testing' as const }]),
    ['0 enforced', '0 not_enforced'],
  ],
])('%s', (_, days, events) => {
  expect(tell(days)).toEqual(events);
});

describe('dane-required', () => {
  const of = (...reporters: string[]) =>
    reporters.map((reporter) => aCause({ resultType: 'dane-required', reporter, sessions: 30 }));
  const dane = { policyType: 'tlsa', mode: null } as const;

  test('of one reporter is an agreement, of two a fault', () => {
    expect(tell(sameDays(3, { ...dane, causes: of('One') }))).toEqual([]);
    expect(tell([[{ ...dane, causes: of('One', 'Two') }]])).toEqual(['0 enforced']);
  });

  test('of one reporter hides no other failure', () => {
    const causes = [...of('One'), aCause({ resultType: 'tlsa-invalid', sessions: 20 })];
    const { context } = fire({ ...dane, causes });
    expect(context).toMatchObject({ failed_sessions: 20, total_sessions: 20 });
    expect(context['result_types']).toEqual([{ result_type: 'tlsa-invalid', failed_sessions: 20 }]);
  });
});

function fire(told: Told): KnownAlert {
  const tls = [toDay('2026-03-14', told)];
  const [alert] = carryOut(facts({ tls })).filter(({ type }) => type === TYPE);
  return alert as KnownAlert;
}

test('nothing fires for old days, nor for those before the domain was resumed', () => {
  const tls = [toDay('2026-03-14', { failed: [20] })];
  const at = (changes: object) => carryOut(facts({ tls, lastReportAt: null, ...changes }));
  expect(at({ now: '2026-03-18T06:00:00Z' })).toHaveLength(1);
  expect(at({ now: '2026-03-19T06:00:00Z' })).toEqual([]);
  expect(at({ watchedSince: '2026-03-15T01:00:00Z' })).toEqual([]);
});

test('the context has the worst type of policy, ten of each list, and its figures follow while it is open', () => {
  const failed = Array.from({ length: 12 }, (_, i) => i + 1);
  const alert = fire({ good: 22, failed });
  expect(alert.context).toMatchObject({
    ...{ day: '2026-03-14', enforced: true, failure_rate: 78, failed_sessions: 78 },
    ...{ total_sessions: 100, policy_type: 'sts', mode: 'enforce' },
    mx_hosts: [{ mx_host: 'mx.example.com', failed_sessions: 78 }],
  });
  const { reporters } = alert.context as { reporters: object[] };
  expect(reporters).toHaveLength(10);
  expect(reporters[0]).toEqual({
    ...{ reporter: 'Provider 12', failed_sessions: 12, total_sessions: 12 },
  });
  const later = [toDay('2026-03-14', { good: 122, failed })];
  const [followed] = carryOut(facts({ tls: later, alerts: [alert] }));
  expect(followed).toMatchObject({
    isOpen: true,
    context: { failure_rate: 39, total_sessions: 200 },
  });
});

test('it is told in sentences, with what to do and the effect', () => {
  const { context } = fire({ good: 20, failed: [20] });
  expect(findAlertText(TYPE).describe(context)).toBe(
    'The certificate of mx.example.com has expired. Renew it, reload the mail server, and automate both. 20 of 40 sessions (50%) failed on 14 Mar 2026 (MTA-STS, enforce). These senders did not deliver over this host: they wait, try others, and return the mail if this lasts.',
  );
  expect(findAlertText(TYPE).describe({})).toMatch(/^TLS with a mail server of the domain failed/);
});
