import { expect, test } from 'vitest';
import { addDays } from '../../../src/domain/instant.ts';
import { listObstacles } from '../../../src/domain/tls/enforce.ts';
import type { StsCheck, TlsCheck } from '../../../src/domain/tls/tls-check.ts';
import type { TlsDay } from '../../../src/domain/tls/tls-day.ts';
import { aCause, aTlsDay, toReporter } from './tls-days.ts';

const POLICY = { mode: 'testing', mx: ['mx1.example.com'], maxAge: 86_400 } as const;
const aCheck = (changes: Partial<StsCheck> = {}): TlsCheck => ({
  record: { value: null, findings: ['missing'] },
  sts: { id: '1', recordFindings: [], policy: POLICY, fileFindings: [], ...changes },
});
const VALID = aCheck({ fileFindings: ['not_text', 'short_max_age'] });
const reporters = ['One', 'Two'].map(toReporter(5));
const of = (count: number, changes: (i: number) => Partial<TlsDay> = () => ({})) =>
  Array.from({ length: count }, (_, i) =>
    aTlsDay({ day: addDays('2026-03-14', -i), reporters, ...changes(i) }),
  );
const failingOn = (day: number) => (i: number) => (i === day ? { causes: [aCause()] } : {});

test.each<[string, Parameters<typeof listObstacles>, readonly string[] | undefined]>([
  ['fourteen good days of two reporters', [of(14), VALID], []],
  ['a failure eight days that have reports ago', [of(14, failingOn(7)), VALID], []],
  ['a failure seven days that have reports ago', [of(14, failingOn(6)), VALID], ['failures']],
  ['thirteen days', [of(13), VALID], ['days']],
  ['one reporter', [of(14, () => ({ reporters: [toReporter(5)('One')] })), VALID], ['reporters']],
  ['no check of the file', [of(14)], ['not_checked']],
  ['a file that is not fetched', [of(14), aCheck({ policy: null })], ['not_checked']],
  [
    'a file that is not valid',
    [of(14), aCheck({ policy: null, fileFindings: ['invalid'] })],
    ['policy_file'],
  ],
  ['a changed file', [of(14), aCheck({ recordFindings: ['id_not_changed'] })], ['policy_file']],
  ['an MX that no line covers', [of(14), aCheck({ fileFindings: ['mx_not_covered'] })], ['mx']],
  [
    'failures of DANE alone',
    [[...of(14), ...of(1, () => ({ ...failingOn(0)(0), policyType: 'tlsa' }))], VALID],
    [],
  ],
  ['a file in enforce', [of(14), aCheck({ policy: { ...POLICY, mode: 'enforce' } })], undefined],
  ['reports of a policy in enforce', [of(14, () => ({ mode: 'enforce' }))], undefined],
  ['no reports and no check', [[]], undefined],
])('%s', (_, [days, check], obstacles) => {
  expect(listObstacles(days, check)).toEqual(obstacles);
});
