import { describe, expect, test } from 'vitest';
import type { AlertFacts } from '../../../src/domain/alerts/registry.ts';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import {
  findRecord,
  isSameRecord,
  type RecordType,
  type RecordValue,
  toPolicies,
} from '../../../src/domain/dns/dns-record.ts';
import {
  addCheck,
  type DnsRecordState,
  UNKNOWN_RECORD,
} from '../../../src/domain/dns/dns-watch.ts';
import { toInstant } from '../../../src/domain/instant.ts';
import { carryOut, facts } from './facts.ts';

const START = Date.parse('2026-03-01T00:00:00Z');
const at = (minutes: number) => toInstant(new Date(START + minutes * 60_000));
const DAY = 24 * 60;

type Answer = readonly [minutes: number, value: RecordValue];

/** The state after some answers, and the alerts after each of them. */
function watch(type: RecordType, answers: readonly Answer[]): AlertFacts {
  let state: DnsRecordState = UNKNOWN_RECORD;
  let now: AlertFacts = facts();
  for (const [minutes, value] of answers) {
    state = addCheck(state, { type, value, at: at(minutes) }, DEFAULT_THRESHOLDS);
    now = { ...now, now: at(minutes), dns: { [type]: state } };
    now = { ...now, alerts: carryOut(now) };
  }
  return now;
}
const open = ({ alerts }: AlertFacts) =>
  alerts.filter(({ isOpen }) => isOpen).map(({ type }) => type.replace('alert.', ''));

const A = 'v=DMARC1; p=reject; rua=mailto:d@example.com';
const B = 'v=DMARC1; p=reject; rua=mailto:other@example.com';
const C = 'v=DMARC1; p=reject';
const NONE = 'v=DMARC1; p=none';
const QUARANTINE = 'v=DMARC1; p=quarantine';
const known = (value: RecordValue): Answer[] => [
  [0, value],
  [10, value],
];

describe('two records mean the same', () => {
  test.each<[RecordType, boolean, RecordValue, RecordValue]>([
    ['dmarc', true, 'v=DMARC1;p=none', 'v=DMARC1 ;  P = None ; '],
    ['dmarc', true, 'v=DMARC1; p=none; sp=reject', 'v=DMARC1; sp=reject; p=none'],
    ['dmarc', false, 'v=DMARC1; p=none', 'v=DMARC1; p=none; sp=none'],
    [
      'dmarc',
      false,
      'v=DMARC1; p=none; rua=mailto:A@x.example',
      'v=DMARC1; p=none; rua=mailto:a@x.example',
    ],
    ['dmarc', true, null, null],
    ['dmarc', false, 'v=DMARC1; p=none', null],
    ['spf', true, 'v=spf1 a  mx -all', 'v=spf1 MX a -all'],
    ['spf', false, 'v=spf1 a -all', 'v=spf1 a ~all'],
  ])('%s, %s: %s and %s', (type, wanted, a, b) => {
    expect(isSameRecord(type, a, b)).toBe(wanted);
  });

  test('the record is found among other texts; none and several are distinguished', () => {
    const others = ['google-site-verification=x', 'v=spf10 a', 'v=DMARC12'];
    expect(findRecord('spf', [...others, ' v=spf1 -all'])).toBe('v=spf1 -all');
    expect(findRecord('dmarc', [...others, 'V = DMARC1; p=none'])).toBe('V = DMARC1; p=none');
    // The case of the version matters to receivers.
    expect(findRecord('dmarc', [...others, 'v=dmarc1; p=reject'])).toBeNull();
    expect(findRecord('dmarc', others)).toBeNull();
    expect(findRecord('spf', ['v=spf1 b', 'v=spf1 a'])).toBe('v=spf1 a\nv=spf1 b');
  });

  test('both values of a change fit into a webhook, whatever the record contains', () => {
    const value = findRecord('spf', [`v=spf1 ${'"\\\u0001é\ud800'.repeat(10_000)}`]);
    expect(Buffer.byteLength(JSON.stringify([value, value]))).toBeLessThan(19_000);
  });

  test.each<[RecordValue, string, string]>([
    [A, 'reject', 'reject'],
    ['v=DMARC1; p=reject; sp=none', 'reject', 'none'],
    ['v=DMARC1; p=reject; p=none', 'reject', 'reject'],
    ['v=DMARC1; rua=mailto:x@example.com', 'none', 'none'],
    ['v=DMARC1; p=frobnicate', 'none', 'none'],
    [`${A}\n${B}`, 'absent', 'absent'],
    [null, 'absent', 'absent'],
  ])('the policy of %s', (value, p, sp) => {
    expect(toPolicies(value)).toEqual({ p, sp, np: sp });
  });

  test('the policy of subdomains that do not exist', () => {
    const record = 'v=DMARC1; p=reject; sp=none; np=quarantine';
    expect(toPolicies(record)).toEqual({ p: 'reject', sp: 'none', np: 'quarantine' });
  });
});

describe('alert.dns_record_changed', () => {
  test.each<[string, string[], Answer[]]>([
    [
      'two checks that differ, ten minutes apart',
      ['dns_record_changed'],
      [
        [60, B],
        [70, B],
      ],
    ],
    [
      'one second too close together',
      [],
      [
        [60, B],
        [69.98, B],
      ],
    ],
    ['one check that differs', [], [[60, B]]],
    [
      'two that are not consecutive',
      [],
      [
        [60, B],
        [70, A],
        [80, B],
      ],
    ],
    [
      'two that differ from each other',
      ['dns_record_changed'],
      [
        [60, B],
        [70, C],
      ],
    ],
    [
      'other blanks and another order',
      [],
      [
        [60, 'V=dmarc1 ;rua=mailto:d@example.com;P=Reject;'],
        [70, 'v=DMARC1;p=reject;rua=mailto:d@example.com'],
      ],
    ],
    [
      'the former value returns',
      [],
      [
        [60, B],
        [70, B],
        [80, A],
        [90, A],
      ],
    ],
    [
      'the former value is seen once',
      ['dns_record_changed'],
      [
        [60, B],
        [70, B],
        [80, A],
      ],
    ],
    [
      'the former value returns after another change',
      [],
      [
        [60, B],
        [70, B],
        [80, C],
        [90, C],
        [100, A],
        [110, A],
      ],
    ],
    [
      'a minute before seven days',
      ['dns_record_changed'],
      [
        [60, B],
        [70, B],
        [69 + 7 * DAY, B],
      ],
    ],
    [
      'seven days',
      [],
      [
        [60, B],
        [70, B],
        [70 + 7 * DAY, B],
      ],
    ],
    [
      'seven days after the first of two changes',
      ['dns_record_changed'],
      [
        [60, B],
        [70, B],
        [DAY, C],
        [DAY + 10, C],
        [70 + 7 * DAY, C],
      ],
    ],
  ])('%s: %j', (_what, wanted, answers) => {
    expect(open(watch('dmarc', [...known(A), ...answers]))).toEqual(wanted);
  });

  test('the first value is not a change, and needs two checks that agree', () => {
    expect(
      open(
        watch('dmarc', [
          [0, A],
          [10, B],
          [20, B],
          [30, B],
        ]),
      ),
    ).toEqual([]);
    expect(
      open(
        watch('dmarc', [
          [0, A],
          [10, B],
          [20, A],
          [30, A],
          [40, B],
          [50, B],
        ]),
      ),
    ).toEqual(['dns_record_changed']);
  });

  test.each<[string, RecordValue, RecordValue]>([
    ['added', null, 'v=spf1 -all'],
    ['removed', 'v=spf1 -all', null],
    ['modified', 'v=spf1 -all', 'v=spf1 ~all'],
  ])('context of a record that was %s', (change, former, current) => {
    const { alerts } = watch('spf', [...known(former), [60, current], [70, current]]);
    expect(alerts.map(({ subject, context }) => [subject, context])).toStrictEqual([
      [
        'spf',
        {
          record_type: 'spf',
          record_name: 'example.com',
          change,
          previous_value: former,
          current_value: current,
        },
      ],
    ]);
  });

  test('a change that comes back is another alert', () => {
    const { alerts } = watch('spf', [
      ...known(A),
      [60, B],
      [70, B],
      [80, A],
      [90, A],
      [100, B],
      [110, B],
    ]);
    expect(alerts.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });

  test('a change noticed after more than four days does not fire, and one from before resuming is resolved', () => {
    const changed = watch('spf', [...known(A), [60, B], [70, B]]);
    const late = { ...changed, alerts: [], now: at(5 * DAY) };
    expect(carryOut(late)).toEqual([]);
    const resumed = carryOut({ ...changed, watchedSince: at(80), now: at(90) });
    expect(resumed.map(({ isOpen }) => isOpen)).toEqual([false]);
  });
});

describe('alert.policy_weakened', () => {
  const weak = 'policy_weakened';
  const both: Answer[] = [
    [60, NONE],
    [70, NONE],
  ];
  test.each<[string, string[], RecordValue, Answer[]]>([
    ['reject to none, and no other alert', [weak], A, both],
    [
      'reject to quarantine',
      [weak],
      A,
      [
        [60, QUARANTINE],
        [70, QUARANTINE],
      ],
    ],
    [
      'none to absent',
      [weak],
      NONE,
      [
        [60, null],
        [70, null],
      ],
    ],
    [
      'quarantine to absent',
      [weak],
      QUARANTINE,
      [
        [60, null],
        [70, null],
      ],
    ],
    ['seen once', [], A, [[60, NONE]]],
    [
      'stronger: only the record changed',
      ['dns_record_changed'],
      NONE,
      [
        [60, QUARANTINE],
        [70, QUARANTINE],
      ],
    ],
    [
      'absent to none: equally strong',
      ['dns_record_changed'],
      null,
      [
        [60, NONE],
        [70, NONE],
      ],
    ],
    [
      'only sp',
      [weak],
      A,
      [
        [60, `${A}; sp=none`],
        [70, `${A}; sp=none`],
      ],
    ],
    ['it stays for longer than seven days', [weak], A, [...both, [30 * DAY, NONE]]],
    ['the same record returns', [], A, [...both, [80, A], [90, A]]],
    [
      'half of the former strength returns',
      [weak, 'dns_record_changed'],
      A,
      [...both, [80, QUARANTINE], [90, QUARANTINE]],
    ],
    [
      'the former strength returns with another text',
      ['dns_record_changed'],
      A,
      [...both, [80, C], [90, C]],
    ],
  ])('%s: %j', (_what, wanted, first, answers) => {
    expect(open(watch('dmarc', [...known(first), ...answers]))).toEqual(wanted);
  });

  test('context, which follows a policy that becomes weaker still', () => {
    const { alerts } = watch('dmarc', [
      ...known(A),
      [60, QUARANTINE],
      [70, QUARANTINE],
      [80, null],
      [90, null],
    ]);
    expect(alerts.map(({ context }) => context)).toStrictEqual([
      {
        record_name: '_dmarc.example.com',
        tag: 'p',
        previous_policy: 'reject',
        current_policy: 'absent',
        previous_value: A,
        current_value: null,
      },
    ]);
  });

  test('a weaker policy later is another alert', () => {
    const { alerts } = watch('dmarc', [
      ...known(A),
      ...both,
      [80, A],
      [90, A],
      [100, NONE],
      [110, NONE],
    ]);
    expect(alerts.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });
});
