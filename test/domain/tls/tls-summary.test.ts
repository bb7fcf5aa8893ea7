import { describe, expect, test } from 'vitest';
import { describeTypes, findWorst, sumTypes } from '../../../src/domain/tls/tls-summary.ts';
import { aCause, aTlsDay } from './tls-days.ts';

describe('the sentence', () => {
  const tell = (...days: Parameters<typeof aTlsDay>[0][]) =>
    describeTypes(sumTypes(days.map((day) => aTlsDay(day))), 30);

  test('adds up days of one type, in the mode of the newest', () => {
    expect(tell({ mode: 'enforce', successes: 1_200 }, { day: '2026-03-13', successes: 4 })).toBe(
      '1,204 sessions in 30 days, all encrypted as MTA-STS asks (enforce).',
    );
  });

  test('never adds up types', () => {
    expect(tell({ policyType: 'tlsa', mode: null, successes: 7 }, { successes: 7 })).toBe(
      '7 sessions in 30 days, all encrypted as MTA-STS asks (testing); 7 sessions, all encrypted as DANE asks.',
    );
  });

  test('says how many were not encrypted, and where there is no policy', () => {
    const none = { policyType: 'no-policy-found', mode: null, successes: 1 };
    expect(tell({ causes: [aCause({ sessions: 2 })] }, none)).toBe(
      '2 of 12 sessions in 30 days not encrypted as MTA-STS asks (testing); 1 session, all encrypted, where senders found no policy that asks for it.',
    );
  });
});

describe('the worst failure', () => {
  test('is the one that keeps mail away, however few there are', () => {
    const enforced = aTlsDay({ mode: 'enforce', causes: [aCause({ mxHost: 'mx2.example.com' })] });
    const testing = aTlsDay({ day: '2026-03-13', causes: [aCause({ sessions: 500 })] });
    expect(findWorst([enforced, testing])).toMatchObject({
      ...{ effect: 'not_delivered', mxHost: 'mx2.example.com', sessions: 1, mode: 'enforce' },
    });
  });

  test('is of most sessions over all days, with who saw it, the last day and how it went on', () => {
    const one = aCause({ sessions: 2, reason: 'CERT_HAS_EXPIRED' });
    const days = [
      aTlsDay({ day: '2026-03-14' }),
      aTlsDay({ day: '2026-03-13', policyType: 'tlsa', mode: null }),
      aTlsDay({ day: '2026-03-12', causes: [aCause({ reporter: 'Two', sessions: 3 })] }),
      aTlsDay({ day: '2026-03-11', causes: [one, aCause({ mxHost: 'other', sessions: 4 })] }),
    ];
    expect(findWorst(days)).toEqual({
      ...{ effect: 'testing', mode: 'testing', resultType: 'certificate-expired', sessions: 5 },
      ...{ mxHost: 'mx.example.com', reason: 'CERT_HAS_EXPIRED', reporters: ['Two', 'One'] },
      ...{ lastDay: '2026-03-12', daysSince: 1 },
    });
  });

  test('is none of a policy that is withdrawn, nor where nothing failed', () => {
    expect(findWorst([aTlsDay({ mode: 'none', causes: [aCause()] }), aTlsDay()])).toBeUndefined();
  });
});
