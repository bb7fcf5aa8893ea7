import { describe, expect, test } from 'vitest';
import type { PolicyEvaluated } from '../../../src/domain/reports/aggregate-report.ts';
import { addToTally, EMPTY_TALLY, passesDmarc } from '../../../src/domain/reports/alignment.ts';

const evaluated = (dkim: string | null, spf: string | null): PolicyEvaluated => ({
  disposition: null,
  dkim,
  spf,
  reasons: [],
});

describe('passesDmarc', () => {
  test.each<[string | null, string | null, boolean]>([
    ['pass', 'pass', true],
    ['pass', 'fail', true],
    ['fail', 'pass', true],
    ['pass', null, true],
    [null, 'pass', true],
    ['fail', 'fail', false],
    ['fail', null, false],
    [null, null, false],
    ['none', 'softfail', false],
    ['temperror', 'permerror', false],
    ['passed', 'pass ', false],
    ['', '', false],
  ])('DKIM %s, SPF %s: %s', (dkim, spf, passes) => {
    expect(passesDmarc({ dkim, spf })).toBe(passes);
  });
});

describe('addToTally', () => {
  test('counts records one by one, messages by their count, and aligned ones among them', () => {
    const tally = [
      { count: 3, policyEvaluated: evaluated('pass', 'fail') },
      { count: 4, policyEvaluated: evaluated('fail', 'pass') },
      { count: 5, policyEvaluated: evaluated('fail', 'fail') },
      { count: 0, policyEvaluated: evaluated('pass', 'pass') },
    ].reduce(addToTally, EMPTY_TALLY);
    expect(tally).toEqual({
      ...{ recordCount: 4, totalMessages: 12, alignedMessages: 7, dkimAligned: 3, spfAligned: 4 },
      ...{ quarantined: 0, rejected: 0, otherwise: 12 },
    });
  });

  test('does not change the given tally', () => {
    addToTally(EMPTY_TALLY, { count: 1, policyEvaluated: evaluated('pass', 'pass') });
    expect(new Set(Object.values(EMPTY_TALLY))).toEqual(new Set([0]));
  });
});
