import { describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/domain/instant.ts';
import { parsePattern, toPattern } from '../../src/domain/reports/source-pattern.ts';
import type { Sender, Verdict } from '../../src/domain/senders/sender.ts';
import { COMPARED_DAYS, type Compared, findChanges } from '../../src/domain/what-changed.ts';
import { aRecord } from '../support/builders.ts';

const TO: Day = '2026-03-14';
const ago = (days: number) => addDays(TO, -days);
const FROM = ago(COMPARED_DAYS - 1);

type Sent = readonly [daysAgo: number, messages: number, failed?: number];

const seen = parsePattern(toPattern(aRecord({ sourceIp: '192.0.2.1', count: 1 })));

/** What a sender sent, oldest first, each with what failed of it. */
function aSender(key: string, sent: readonly Sent[], wanted: Partial<Sender> = {}) {
  const days = sent.map(([daysAgo, messages, failed = 0]) => ({
    day: ago(daysAgo),
    ...{ messages, aligned: messages - failed, dkimAligned: messages - failed },
    failed: failed === 0 ? [] : [{ seen, messages: failed, look: 'silent' as const }],
  }));
  const messages = sent.reduce((sum, [, one]) => sum + one, 0);
  const aligned = messages - sent.reduce((sum, [, , failed = 0]) => sum + failed, 0);
  const verdict: Verdict = 'yours';
  const sender = { key, title: key, verdict, isScattered: false, messages, aligned, ...wanted };
  return {
    ...{ messages, aligned, sent: days, firstDay: days[0]?.day as Day },
    sender: sender as Sender,
  };
}

const daily = (from: number, to: number, messages: number, failed = 0): Sent[] =>
  Array.from({ length: from - to + 1 }, (_, i) => [from - i, messages, failed]);

function find(sources: readonly ReturnType<typeof aSender>[], wanted: Partial<Compared> = {}) {
  const of = {
    range: { from: FROM, to: TO },
    oldest: '2025-01-01',
    reporters: new Map(),
    steps: [],
  };
  const [week, month] = findChanges({ ...of, sources, ...wanted }, TO);
  if (week === undefined || month === undefined) throw new Error('There are two windows.');
  const tell = ({ changes }: typeof week) =>
    changes.map(
      ({ kind, sender, reporter, since }) => `${kind} ${sender?.key ?? reporter ?? ''} ${since}`,
    );
  return { week: tell(week), month: tell(month), strangers: month.strangers };
}

describe('a sender of the owner’s', () => {
  const steady = aSender('steady', daily(89, 0, 10));

  test.each<readonly [what: string, sent: readonly Sent[], week: string[], month: string[]]>([
    ['that sends every day has not changed', daily(89, 0, 10), [], []],
    [
      'is new with its twentieth message',
      daily(5, 0, 5),
      [`new_sender x ${ago(5)}`],
      [`new_sender x ${ago(5)}`],
    ],
    [
      'with 19 messages is not new yet',
      [
        [3, 10],
        [1, 9],
      ],
      [],
      [],
    ],
    [
      'with its twentieth message lately is new in the week, though it began before',
      [
        [20, 10],
        [1, 10],
      ],
      [`new_sender x ${ago(20)}`],
      [`new_sender x ${ago(20)}`],
    ],
    [
      'that sent 50 days ago, too, is not new',
      [
        [60, 30],
        [50, 1],
        [2, 30],
      ],
      [],
      [],
    ],
    [
      'that was silent for seven days has stopped',
      daily(89, 7, 10),
      [`stopped_sender x ${ago(7)}`],
      [`stopped_sender x ${ago(7)}`],
    ],
    ['that was silent for six days has not', daily(89, 6, 10), [], []],
    [
      'that stopped two weeks ago is in the month alone',
      daily(89, 21, 10),
      [],
      [`stopped_sender x ${ago(21)}`],
    ],
    [
      'that sends each week has not stopped after thirteen days',
      [
        [69, 99],
        [62, 99],
        [55, 99],
        [48, 99],
        [41, 99],
        [34, 99],
        [27, 99],
        [20, 99],
        [13, 99],
      ],
      [],
      [],
    ],
    [
      'that sends each week has stopped after fourteen',
      [
        [70, 99],
        [63, 99],
        [56, 99],
        [49, 99],
        [42, 99],
        [35, 99],
        [28, 99],
        [21, 99],
        [14, 99],
      ],
      [`stopped_sender x ${ago(14)}`],
      [`stopped_sender x ${ago(14)}`],
    ],
    ['that sent on three days only does not stop', daily(60, 58, 99), [], []],
    [
      'that passed for a week and fails began to fail',
      [...daily(89, 3, 10), ...daily(2, 0, 10, 10)],
      [`failing_sender x ${ago(2)}`],
      [`failing_sender x ${ago(2)}`],
    ],
    [
      'that has failed for twenty days is in the month alone',
      [...daily(89, 20, 10), ...daily(19, 0, 10, 10)],
      [],
      [`failing_sender x ${ago(19)}`],
    ],
    [
      'that failed for twenty days was mended, however long it took',
      [...daily(89, 25, 10), ...daily(24, 5, 10, 10), ...daily(4, 0, 10)],
      [`mended_sender x ${ago(24)}`],
      [`mended_sender x ${ago(24)}`],
    ],
    ['that never passed did not begin to fail', daily(89, 0, 10, 10), [], []],
  ])('%s', (_, sent, week, month) => {
    const found = find([steady, aSender('x', sent)]);
    expect([found.week, found.month]).toEqual([week, month]);
  });

  test('is not new where the domain has reports since six days before it', () => {
    const sources = [aSender('x', daily(5, 0, 9))];
    expect(find(sources, { oldest: ago(11) }).month).toEqual([]);
    expect(find(sources, { oldest: ago(12) }).month).toEqual([`new_sender x ${ago(5)}`]);
  });
});

describe('strangers', () => {
  const own = aSender('own', daily(4, 0, 5));
  const asked = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      aSender(`host-${i}`, [[2, 100 + i, 100 + i]], { verdict: 'not_recognised' }),
    );

  test('push out none of the owner’s, however many they are: ten are listed, and the others are one figure', () => {
    const { week, strangers } = find([...asked(3_000), own]);
    expect(week[0]).toBe(`new_sender own ${ago(4)}`);
    expect(week.slice(1)).toHaveLength(10);
    expect(week).toContain(`unrecognised_sender host-2999 ${ago(2)}`);
    const others = 2_990;
    expect(strangers).toEqual({
      sources: others,
      messages: others * 100 + (others * (others - 1)) / 2,
    });
  });

  test.each<Partial<Sender>>([
    { verdict: 'forged' },
    { verdict: 'not_recognised', isScattered: true },
  ])('that are %j are never listed', (wanted) => {
    const { month, strangers } = find([
      aSender(
        'x',
        [
          [40, 1, 1],
          [2, 50, 50],
        ],
        wanted,
      ),
    ]);
    expect([month, strangers]).toEqual([[], { sources: 0, messages: 50 }]);
  });

  test('do not have what others pass on', () => {
    const { month, strangers } = find([aSender('x', [[2, 50, 50]], { verdict: 'passed_on' })]);
    expect([month, strangers]).toEqual([[], { sources: 0, messages: 0 }]);
  });
});

test('a reporter is new with its third day, and has stopped like a sender', () => {
  const days = (sent: readonly Sent[]) => sent.map(([daysAgo]) => ago(daysAgo));
  const reporters = new Map([
    ['Steady', days(daily(89, 0, 1))],
    ['New', days(daily(3, 1, 1))],
    ['Twice', days(daily(2, 1, 1))],
    ['Stopped', days(daily(89, 9, 1))],
  ]);
  expect(find([], { reporters }).week).toEqual([
    `new_reporter New ${ago(3)}`,
    `stopped_reporter Stopped ${ago(9)}`,
  ]);
});
