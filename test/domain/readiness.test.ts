import { describe, expect, test } from 'vitest';
import { addUp } from '../../src/domain/alerts/rate.ts';
import { type DomainFacts, findNextStep } from '../../src/domain/next-step.ts';
import {
  findStrangers,
  type JudgedSource,
  judgeMail,
  listObstacles,
  sumByStanding,
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
  const mail = judgeMail([sumByStanding(sources)], all);
  const strangers = findStrangers(all, mail);
  const facts = { ...FACTS, counts: toOwnCounts(all, mail), strangers };
  const obstacles = listObstacles(facts, mail).map(({ kind }) => kind);
  const step = findNextStep(facts);
  // They never say something else.
  expect(step.kind === 'stronger').toBe(obstacles.length === 0);
  return { mail, obstacles, step };
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
    expect(judge(sources).obstacles).toEqual(wanted);
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

  test('the next step names strangers where more than a few messages of all fail', () => {
    const own = source(15_000, 15_000);
    expect(judge([own, judged(600, 'forger'), judged(9, undefined)]).step).toMatchObject({
      strangers: { messages: 609, sources: 2 },
    });
    for (const others of [[judged(60, 'forger')], [judged(600, 'forwarder')]])
      expect(judge([own, ...others]).step).toMatchObject({ strangers: undefined });
  });

  test('what the verdict takes for the owner’s is the owner’s, and a passing forwarder is not', () => {
    const { mail } = judge([
      judged(600, 'yours'),
      judged(5, 'yours'),
      source(1_554, 1_554),
      { ...source(302, 2), verdict: 'forwarder' },
      { ...source(40, 40), mark: 'legitimate' },
    ]);
    expect(mail).toMatchObject({
      passing: { messages: 1_594, aligned: 1_594, sources: 2 },
      own: { messages: 605, aligned: 0, sources: 2 },
      forwarded: { messages: 302, aligned: 2, sources: 1 },
      stranger: { messages: 0, aligned: 0, sources: 0 },
    });
  });

  test('what came before a week without reports', () => {
    const { mail } = judge([source(15_000, 15_000)]);
    const facts = { ...FACTS, newest: '2026-03-07', counts: { messages: 15_000, aligned: 15_000 } };
    expect(listObstacles(facts, mail)).toEqual([{ kind: 'silent', newest: '2026-03-07' }]);
    expect(findNextStep(facts).kind).toBe('silent');
  });

  test('a few messages of a service count', () => {
    const few = Array.from({ length: 3_000 }, () => judged(9, 'service'));
    expect(judge([source(15_000, 15_000), ...few]).obstacles).toEqual(['undecided']);
  });

  test('failures of addresses that were not kept are undecided', () => {
    const { mail, obstacles } = judge([source(10_000, 10_000)], {
      ...{ messages: 11_000, aligned: 10_200 },
    });
    expect(mail.passing).toEqual({ messages: 10_200, aligned: 10_200, sources: 1 });
    expect(mail.undecided).toEqual({ messages: 800, aligned: 0, sources: 0 });
    expect(obstacles).toEqual(['undecided']);
  });

  test('mail of a sender who is unknown and passes is not subtracted', () => {
    const all = { messages: 100, aligned: 60 };
    const { mail } = judge([source(50, 30, 'unknown')], all);
    expect(toOwnCounts(all, mail)).toEqual({ messages: 80, aligned: 60 });
  });
});
