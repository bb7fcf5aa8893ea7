import { describe, expect, test } from 'vitest';
import { toPolicyTagsOf } from '../../../src/domain/dns/dns-record.ts';
import { listPolicySteps } from '../../../src/domain/dns/policy-steps.ts';

const WORDS = { n: 'p=none', q: 'p=quarantine', r: 'p=reject', s: 'p=reject; sp=none' } as const;

/** “nnq”: what the reports of 1, 2 and 3 March state; a dot is a day without. */
const toDays = (text: string) =>
  [...text].flatMap((letter, i) =>
    letter === '.'
      ? []
      : [{ day: `2026-03-${`${i + 1}`.padStart(2, '0')}`, policy: WORDS[letter as 'n'] }],
  );

const anAlert = (day: number, former: string | null, current: string | null, more = {}) => ({
  type: 'alert.dns_record_changed',
  fired_at: `2026-03-${`${day}`.padStart(2, '0')}T10:00:00Z`,
  context: JSON.stringify({
    ...{ record_type: 'dmarc', previous_value: former, current_value: current },
    ...more,
  }),
});

describe('by reports', () => {
  test.each([
    ['', []],
    ['nnnn', []],
    ['nnnqqq', ['4 p=none > p=quarantine']],
    // The newest counts at once.
    ['nnnq', ['4 p=none > p=quarantine']],
    // One reporter still had the former record.
    ['nnnqqqnqqq', ['4 p=none > p=quarantine']],
    ['nnnqnqqq', ['6 p=none > p=quarantine']],
    ['nnqqnnn', []],
    ['qnnn', ['2 p=quarantine > p=none']],
    ['nn..q..qq', ['5 p=none > p=quarantine']],
    [
      'nnnqqqrrrnnn',
      ['4 p=none > p=quarantine', '7 p=quarantine > p=reject', '10 p=reject > p=none'],
    ],
    ['rrrsss', ['4 p=reject > p=reject; sp=none']],
  ])('the days %j have the steps %j', (days, steps) => {
    expect(
      listPolicySteps(toDays(days), []).map(
        ({ day, former, policy, by }) =>
          `${Number(day.slice(8))} ${former} > ${policy}${by === 'dns' ? ' DNS' : ''}`,
      ),
    ).toEqual(steps);
  });
});

describe('by DNS', () => {
  const describeSteps = (days: string, ...alerts: readonly ReturnType<typeof anAlert>[]) =>
    listPolicySteps(toDays(days), alerts).map(({ day, policy, by }) => [day.slice(8), policy, by]);

  test('a step is of the day of its alert, and other changes of records are none', () => {
    const steps = describeSteps(
      '',
      anAlert(9, 'v=DMARC1; p=reject', 'v=DMARC1; p=none; pct=50', {
        ...{ type: 'alert.policy_weakened', record_type: undefined },
      }),
      anAlert(3, null, 'v=DMARC1; p=none; rua=mailto:a@example.com'),
      anAlert(4, 'v=DMARC1; p=none', 'v=DMARC1; p=none; rua=mailto:b@example.com'),
      anAlert(5, 'v=spf1 -all', 'v=spf1 ~all', { record_type: 'spf' }),
      { ...anAlert(6, 'v=DMARC1; p=none', null), type: 'alert.of_another_type' },
      anAlert(7, 'v=DMARC1; p=none', null),
    );
    expect(steps).toEqual([
      ['03', 'p=none', 'dns'],
      ['07', null, 'dns'],
      ['09', 'p=none; pct=50', 'dns'],
    ]);
  });

  test('what reports tell of the same step within four days is left out', () => {
    const strict = anAlert(2, 'v=DMARC1; p=none', 'v=DMARC1; p=quarantine; pct=100');
    expect(describeSteps('nnnnnqqq', strict)).toEqual([['02', 'p=quarantine', 'dns']]);
    expect(describeSteps('nnnnnnqqq', strict)).toEqual([
      ['02', 'p=quarantine', 'dns'],
      ['07', 'p=quarantine', 'reports'],
    ]);
    expect(describeSteps('nnnsss', anAlert(4, 'v=DMARC1; p=none', 'v=DMARC1; p=reject'))).toEqual([
      ['04', 'p=reject', 'dns'],
      ['04', 'p=reject; sp=none', 'reports'],
    ]);
  });
});

test.each([
  [null, null],
  ['v=DMARC1; p=Reject; sp=reject', 'p=reject'],
  ['v=DMARC1; p=reject; sp=none; t=y', 'p=reject; sp=none; t=y'],
  ['v=DMARC1; rua=mailto:a@example.com', 'p=none'],
  ['v=DMARC1; p=none\nv=DMARC1; p=reject', null],
])('the record %j has the policy %j', (record, tags) => {
  expect(toPolicyTagsOf(record)).toBe(tags);
});
