import { describe, expect, test } from 'vitest';
import { addUp } from '../../src/domain/alerts/rate.ts';
import { type DomainFacts, findNextStep } from '../../src/domain/next-step.ts';
import {
  type JudgedSource,
  judgeMail,
  listObstacles,
  toOwnCounts,
} from '../../src/domain/readiness.ts';
import type { Mark } from '../../src/domain/sources/source.ts';
import type { Verdict } from '../../src/domain/sources/verdict.ts';

const FACTS: DomainFacts = {
  status: 'active',
  today: '2026-03-15',
  oldest: '2025-01-01',
  newest: '2026-03-14',
  counts: { messages: 0, aligned: 0 },
  before: { messages: 0, aligned: 0 },
  dataDays: 30,
  record: 'p=quarantine',
  openAlerts: [],
};

const source = (messages: number, aligned: number, mark?: Mark): JudgedSource => ({
  ...{ messages, aligned, mark },
});

const judged = (messages: number, verdict: Verdict | undefined): JudgedSource => ({
  ...{ messages, aligned: 0, mark: undefined, verdict },
});

function judge(sources: readonly JudgedSource[], all = addUp(sources)) {
  const mail = judgeMail(sources, all);
  const facts = { ...FACTS, counts: toOwnCounts(all, mail.foreign) };
  const obstacles = listObstacles(facts, mail).map(({ kind }) => kind);
  return { mail, obstacles, step: findNextStep(facts).kind };
}

describe('what keeps a domain from a stronger policy', () => {
  test.each<[string, readonly JudgedSource[], readonly string[]]>([
    [
      'a forger who is marked as unknown is what the policy is for',
      [source(15_000, 15_000, 'legitimate'), source(600, 0, 'unknown')],
      [],
    ],
    [
      'the same forger while nobody has said so',
      [source(15_000, 15_000, 'legitimate'), source(600, 0)],
      ['undecided'],
    ],
    [
      'more forged mail than mail of the owner',
      [source(1_500, 1_500), source(600_000, 0, 'unknown')],
      [],
    ],
    ['a source of which some passes is the owner’s', [source(15_600, 15_000)], ['own']],
    [
      'a source that is marked as legitimate, and never passes',
      [source(15_000, 15_000), source(600, 0, 'legitimate')],
      ['own'],
    ],
    ['some that fail, of many', [source(15_000, 14_900), source(40, 0)], []],
    [
      'the most failures come first',
      [source(15_000, 14_000), source(2_000, 0), source(900, 0, 'unknown')],
      ['undecided', 'own'],
    ],
    ['few messages', [source(900, 900), source(90_000, 0, 'unknown')], ['few_data']],
    ['nothing that is the owner’s', [source(90_000, 0, 'unknown')], ['few_data']],
  ])('%s', (_, sources, wanted) => {
    const { obstacles, step } = judge(sources);
    expect(obstacles).toEqual(wanted);
    // The next step never says something else.
    expect(step === 'stronger').toBe(wanted.length === 0);
  });

  test.each<[string, JudgedSource, readonly string[]]>([
    ['who is authenticated as somebody else', judged(600, 'forger'), []],
    ['what others forward', judged(600, 'forwarder'), []],
    ['a service that nobody marked', judged(600, 'service'), ['undecided']],
    ['what may be a forgotten server', judged(600, 'unclear'), ['undecided']],
    ['what nobody judged', judged(600, undefined), ['undecided']],
    [
      'a forger who is marked as legitimate',
      { ...judged(600, 'forger'), mark: 'legitimate' },
      ['own'],
    ],
  ])('%s', (_, failing, wanted) => {
    expect(judge([source(15_000, 15_000), failing]).obstacles).toEqual(wanted);
  });

  test('thousands of addresses with a few messages each, as forgers use them, are none', () => {
    const few = Array.from({ length: 3_000 }, () => judged(9, undefined));
    const { obstacles, mail } = judge([source(15_000, 15_000), ...few]);
    expect(obstacles).toEqual([]);
    expect(mail.stranger).toEqual({ messages: 27_000, aligned: 0, sources: 3_000 });
  });

  test('a few messages of a service count', () => {
    const few = Array.from({ length: 3_000 }, () => judged(9, 'service'));
    expect(judge([source(15_000, 15_000), ...few]).obstacles).toEqual(['undecided']);
  });

  test('failures of addresses that were not kept are undecided', () => {
    const { mail, obstacles } = judge([source(10_000, 10_000)], {
      ...{ messages: 11_000, aligned: 10_200 },
    });
    expect(mail.own).toEqual({ messages: 10_200, aligned: 10_200, sources: 1 });
    expect(mail.undecided).toEqual({ messages: 800, aligned: 0, sources: 0 });
    expect(obstacles).toEqual(['undecided']);
  });

  test('mail of a sender who is unknown and passes is not subtracted', () => {
    expect(toOwnCounts({ messages: 100, aligned: 60 }, source(50, 30, 'unknown'))).toEqual({
      ...{ messages: 80, aligned: 60 },
    });
  });
});
