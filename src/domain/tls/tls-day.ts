import type { Day } from '../instant.ts';
import type { TlsMode, TlsPolicy } from '../reports/tls-report.ts';
import { RESULT_TYPES } from '../reports/tls-report.ts';
import { addSafely } from '../safe-sum.ts';

/** Sessions, as senders count them: those that failed had not the TLS that the policy asks for. */
export interface TlsCounts {
  readonly successes: number;
  readonly failures: number;
}

/**
 * The sessions of one day to which one type of policy, in one mode, was applied. A session that two policies judged is in the
 * days of both, so days of different types are never added up.
 */
export interface TlsDay extends TlsCounts {
  readonly day: Day;
  readonly policyType: string | null;
  /** Of MTA-STS; null when it is not known. */
  readonly mode: TlsMode | null;
  readonly reporters: readonly TlsReporter[];
  /** Why sessions failed, as their details say: more sessions than failed, or fewer. */
  readonly causes: readonly TlsCause[];
}

export interface TlsReporter extends TlsCounts {
  readonly reporter: string;
}

export interface TlsCause {
  /** `unknown` where a report does not say it. */
  readonly resultType: string;
  readonly mxHost: string | null;
  readonly reporter: string;
  /** A stranger's text. */
  readonly reason: string | null;
  readonly sessions: number;
}

/** A report of the day. */
interface Told {
  readonly day: Day;
  /** Who reports: names that one reporter uses count as one. */
  readonly reporter: { readonly key: string; readonly name: string };
  readonly policies: readonly TlsPolicy[];
}

/** Of more causes the others are without host. */
const MAX_CAUSES = 500;

interface Sum extends Pick<TlsDay, 'day' | 'policyType' | 'mode'> {
  readonly reporters: Map<string, TlsReporter>;
  readonly causes: Map<string, TlsCause>;
}

/** Adds up reports, in any order. */
export class TlsDays {
  readonly #sums = new Map<string, Sum>();

  add({ day, reporter, policies }: Told): void {
    for (const policy of policies) {
      const sum = this.#find({ day, policyType: policy.type, mode: policy.mode });
      const { key, name } = reporter;
      const known = sum.reporters.get(key) ?? { reporter: name, successes: 0, failures: 0 };
      sum.reporters.set(key, { ...known, ...addUpSessions([known, policy]) });
      for (const cause of toCauses(policy, known.reporter)) addCause(sum.causes, cause);
    }
  }

  #find(of: Pick<TlsDay, 'day' | 'policyType' | 'mode'>): Sum {
    const key = JSON.stringify([of.day, of.policyType, of.mode]);
    const sum = this.#sums.get(key) ?? { ...of, reporters: new Map(), causes: new Map() };
    this.#sums.set(key, sum);
    return sum;
  }

  /** Newest day first, then by type and mode. What most sessions are of comes first in each. */
  toList(): readonly TlsDay[] {
    const sorted = [...this.#sums].sort(([a], [b]) => compare(a, b));
    const days = sorted.map(([, { reporters, causes, ...of }]): TlsDay => {
      const all = [...reporters.values()].sort(byFailures);
      const largest = [...causes].sort(([a, most], [b, least]) => {
        return least.sessions - most.sessions || compare(a, b);
      });
      return {
        ...of,
        ...addUpSessions(all),
        reporters: all,
        causes: largest.map(([, cause]) => cause),
      };
    });
    return days.sort((a, b) => compare(b.day, a.day));
  }
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const byFailures = (a: TlsReporter, b: TlsReporter): number =>
  b.failures - a.failures || b.successes - a.successes || compare(a.reporter, b.reporter);

/** What days of one type of policy add up to, or what the reporters of one day do. */
export function addUpSessions(all: Iterable<TlsCounts>): TlsCounts {
  let [successes, failures] = [0, 0];
  for (const one of all) {
    successes = addSafely(successes, one.successes);
    failures = addSafely(failures, one.failures);
  }
  return { successes, failures };
}

export const totalOf = ({ successes, failures }: TlsCounts) => addSafely(successes, failures);

/** The sessions of each value that causes have, the most first. */
export function sumCauses(
  causes: Iterable<TlsCause>,
  of: 'resultType' | 'mxHost',
): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { sessions, ...cause } of causes) {
    const value = cause[of];
    if (value !== null) sums.set(value, addSafely(sums.get(value) ?? 0, sessions));
  }
  return [...sums].sort(([a, most], [b, least]) => least - most || compare(a, b));
}

function toCauses({ domain, type, failures, details }: TlsPolicy, reporter: string): TlsCause[] {
  const bare = { mxHost: null, reason: null, reporter };
  if (details.length === 0)
    return failures === 0 ? [] : [{ ...bare, resultType: 'unknown', sessions: failures }];
  return details.map(({ resultType, mxHost, sessions, reasonCode, information }) => ({
    ...{ resultType, sessions, reporter, reason: reasonCode ?? information },
    // DANE is of a host, which some reporters name nowhere else.
    mxHost: mxHost ?? (type === 'tlsa' ? domain : null),
  }));
}

function addCause(causes: Map<string, TlsCause>, cause: TlsCause): void {
  const isKept = causes.size < MAX_CAUSES || causes.has(toKey(cause));
  const own = isKept ? cause : withoutHost(cause);
  const { sessions = 0, reason = own.reason } = causes.get(toKey(own)) ?? {};
  causes.set(toKey(own), { ...own, reason, sessions: addSafely(sessions, own.sessions) });
}

const toKey = ({ resultType, mxHost, reporter }: TlsCause) =>
  JSON.stringify([resultType, mxHost, reporter]);

function withoutHost({ resultType, ...cause }: TlsCause): TlsCause {
  return {
    ...cause,
    mxHost: null,
    resultType: RESULT_TYPES.has(resultType) ? resultType : 'unknown',
  };
}
