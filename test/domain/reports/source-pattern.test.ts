import { describe, expect, test } from 'vitest';
import type { ReportRecord } from '../../../src/domain/reports/aggregate-report.ts';
import { parsePattern, toPattern } from '../../../src/domain/reports/source-pattern.ts';

function aRecord(): ReportRecord {
  return {
    sourceIp: '192.0.2.1',
    count: 1,
    policyEvaluated: { disposition: null, dkim: 'fail', spf: null, reasons: [] },
    identifiers: { headerFrom: null, envelopeFrom: null, envelopeTo: null },
    authResults: { dkim: [], spf: [] },
  };
}

describe('records', () => {
  test.each([
    [[['forwarded', null]], true],
    [
      [
        ['local_policy', 'spam'],
        ['Trusted_Forwarder', ''],
      ],
      true,
    ],
    [[['mailing_list', null]], true],
    [[['local_policy', 'arc=pass as[1].d=example.net as[1].s=x']], true],
    [[['local_policy', 'no arc=pass']], false],
    [[['other', 'arc=pass']], false],
    [[['local_policy', 'arc=passed']], false],
    [
      [
        ['not_forwarded', null],
        [null, 'arc=pass'],
      ],
      false,
    ],
    [[], false],
  ] as const)('with the override reasons %j are forwarded: %s', (given, isForwarded) => {
    const one = aRecord();
    for (const spf of ['pass', 'fail']) {
      const reasons = given.map(([type, comment]) => ({ type, comment }));
      const policyEvaluated = { ...one.policyEvaluated, spf, reasons };
      const seen = parsePattern(toPattern({ ...one, policyEvaluated }));
      expect(seen).toMatchObject({ isForwarded, spf: { isAligned: spf === 'pass' } });
    }
  });

  test('never take the SPF result for HELO', () => {
    const one = (scope: string) => {
      return { scope, domain: `${scope}.example`, result: 'pass', humanResult: null };
    };
    const spfOf = (...scopes: string[]) => {
      const authResults = { dkim: [], spf: scopes.map(one) };
      return parsePattern(toPattern({ ...aRecord(), authResults })).spf;
    };
    expect(spfOf('helo', 'mfrom')).toMatchObject({ domain: 'mfrom.example', result: 'pass' });
    expect(spfOf('helo')).toMatchObject({ domain: null, result: null });
  });
});
