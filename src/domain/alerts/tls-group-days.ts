import type { Day } from '../instant.ts';
import type { TlsMode } from '../reports/tls-report.ts';
import { toEffect } from '../tls/failure-texts.ts';
import { addUpSessions, type TlsCause, type TlsDay, type TlsReporter } from '../tls/tls-day.ts';

/** Policies under which senders that cannot keep them do not deliver, and all others but those that are withdrawn. */
export const TLS_GROUPS = ['enforced', 'not_enforced'] as const;
export type TlsGroup = (typeof TLS_GROUPS)[number];

/** A day on which a group of policies has sessions. */
export interface GroupDay {
  readonly day: Day;
  /** A session that two types of policies judged is in both. */
  readonly types: readonly TypeDay[];
}

export interface TypeDay extends Omit<TlsDay, 'day'> {
  readonly policyType: string | null;
}

/** Oldest first. The newest of the given days comes first. */
export function listGroupDays(days: readonly TlsDay[], group: TlsGroup): readonly GroupDay[] {
  const own = days.filter((one) => groupOf(one) === group);
  return [...Map.groupBy(own, ({ day }) => day)]
    .map(([day, some]) => ({ day, types: toTypes(some) }))
    .filter(({ types }) => types.length > 0)
    .reverse();
}

function groupOf(of: Pick<TlsDay, 'policyType' | 'mode'>): TlsGroup | undefined {
  const effect = toEffect(of);
  if (effect === 'withdrawn') return undefined;
  return effect === 'not_delivered' ? 'enforced' : 'not_enforced';
}

function toTypes(days: readonly TlsDay[]): TypeDay[] {
  const byType = Map.groupBy(days, ({ policyType }) => policyType);
  const types = [...byType].map(([policyType, some]) => toType(policyType, some));
  return types.filter(({ successes, failures }) => successes + failures > 0);
}

function toType(policyType: string | null, some: readonly TlsDay[]): TypeDay {
  const sorted = some.toSorted((a, b) => b.failures - a.failures);
  const mode: TlsMode | null = sorted[0]?.mode ?? null;
  const all = sorted.flatMap(({ causes }) => causes);
  const agreed = all.filter(({ resultType }) => resultType === 'dane-required');
  const isAgreement = new Set(agreed.map(({ reporter }) => reporter)).size === 1;
  const left = isAgreement ? agreed : [];
  const reporters = mergeReporters(sorted.flatMap((one) => one.reporters)).map((one) =>
    leaveOut(one, left),
  );
  const causes = all.filter((one) => !left.includes(one));
  return { policyType, mode, ...addUpSessions(reporters), reporters, causes };
}

function mergeReporters(all: readonly TlsReporter[]): TlsReporter[] {
  const byReporter = Map.groupBy(all, ({ reporter }) => reporter);
  return [...byReporter].map(([reporter, own]) => ({ reporter, ...addUpSessions(own) }));
}

/** That one reporter insists on DANE is an agreement with it, and no fault that anybody else sees. */
function leaveOut(one: TlsReporter, left: readonly TlsCause[]): TlsReporter {
  const own = left.filter(({ reporter }) => reporter === one.reporter);
  const sessions = own.reduce((sum, cause) => sum + cause.sessions, 0);
  return { ...one, failures: Math.max(0, one.failures - sessions) };
}
