import type { TlsCause, TlsDay } from '../../../src/domain/tls/tls-day.ts';

/** Sessions of a day under MTA-STS in `testing`, which all had TLS as asked unless it has causes. */
export function aTlsDay(changes: Partial<TlsDay> = {}): TlsDay {
  const { causes = [], successes = 10 } = changes;
  const failed = Map.groupBy(causes, ({ reporter }) => reporter);
  const names = failed.size === 0 ? ['One'] : [...failed.keys()];
  const sum = (some: readonly TlsCause[] = []) => some.reduce((all, one) => all + one.sessions, 0);
  const reporters = names.map((reporter, i) => ({
    ...{ reporter, successes: i === 0 ? successes : 0, failures: sum(failed.get(reporter)) },
  }));
  return {
    ...{ day: '2026-03-14', policyType: 'sts', mode: 'testing', successes },
    ...{ failures: sum(causes), reporters, causes, ...changes },
  };
}

export const toReporter = (successes: number) => (reporter: string) => ({
  ...{ reporter, successes, failures: 0 },
});

export const aCause = (changes: Partial<TlsCause> = {}): TlsCause => ({
  ...{ resultType: 'certificate-expired', mxHost: 'mx.example.com', reporter: 'One' },
  ...{ reason: null, sessions: 1, ...changes },
});
