import type { Day } from '../instant.ts';
import type { TlsMode } from '../reports/tls-report.ts';
import { addSafely } from '../safe-sum.ts';
import { formatCount, pluralize, toSafeText } from '../text.ts';
import { type TlsEffect, toEffect } from './failure-texts.ts';
import { addUpSessions, type TlsCause, type TlsCounts, type TlsDay, totalOf } from './tls-day.ts';

/** What some days say of one type of policy. Types are never added up. */
interface TlsTypeSum extends TlsCounts {
  readonly policyType: string | null;
  /** On its newest day. */
  readonly mode: TlsMode | null;
}

/** One for each type that the days have; MTA-STS first. The newest day comes first. */
export function sumTypes(days: readonly TlsDay[]): readonly TlsTypeSum[] {
  const byType = Map.groupBy(days, ({ policyType }) => policyType);
  const sums = [...byType].map(([policyType, some]) => {
    return { policyType, mode: some[0]?.mode ?? null, ...addUpSessions(some) };
  });
  return sums.sort((a, b) => rankOf(a.policyType) - rankOf(b.policyType));
}

const TYPES = ['sts', 'tlsa', 'no-policy-found'];
const rankOf = (type: string | null) => TYPES.indexOf(type ?? '') + 1 || TYPES.length + 1;

export interface WorstFailure extends Pick<TlsCause, 'resultType' | 'mxHost' | 'reason'> {
  readonly effect: TlsEffect;
  readonly mode: TlsMode | null;
  readonly sessions: number;
  /** Who saw it, those with most sessions first. */
  readonly reporters: readonly string[];
  readonly lastDay: Day;
  /** How many days of this type of policy have reports since. */
  readonly daysSince: number;
}

const WORST_FIRST: readonly TlsEffect[] = ['not_delivered', 'testing', 'perhaps_unencrypted'];

/**
 * The failure whose effect is the worst, and among those the one of most sessions; undefined when nothing failed under a
 * policy that is in force. The newest day comes first.
 */
export function findWorst(days: readonly TlsDay[]): WorstFailure | undefined {
  const found = days.filter(({ failures }) => failures > 0).flatMap(listCauses);
  const byCause = Map.groupBy(found, (one) =>
    JSON.stringify([one.effect, one.resultType, one.mxHost]),
  );
  const worst = [...byCause.values()]
    .map((some) => ({ some, sessions: sumOf(some) }))
    .sort((a, b) => rank(a.some) - rank(b.some) || b.sessions - a.sessions)[0];
  const [newest] = worst?.some ?? [];
  if (worst === undefined || newest === undefined) return undefined;
  const { effect, mode, resultType, mxHost, day: lastDay, policyType } = newest;
  const since = days.filter((one) => one.policyType === policyType && one.day > lastDay);
  return {
    ...{ effect, mode, resultType, mxHost, lastDay, sessions: worst.sessions },
    reason: worst.some.find(({ reason }) => reason !== null)?.reason ?? null,
    reporters: listReporters(worst.some),
    daysSince: new Set(since.map(({ day }) => day)).size,
  };
}

type FoundCause = TlsCause &
  Pick<TlsDay, 'day' | 'mode' | 'policyType'> & { readonly effect: TlsEffect };

function listCauses({ day, mode, policyType, causes }: TlsDay): FoundCause[] {
  const effect = toEffect({ policyType, mode });
  if (effect === 'withdrawn') return [];
  return causes.map((cause) => ({ ...cause, day, mode, policyType, effect }));
}

const rank = ([one]: readonly FoundCause[]) => (one ? WORST_FIRST.indexOf(one.effect) : 0);

const sumOf = (some: readonly FoundCause[]) =>
  some.reduce((sum, { sessions }) => addSafely(sum, sessions), 0);

function listReporters(some: readonly FoundCause[]): readonly string[] {
  const byReporter = Map.groupBy(some, ({ reporter }) => reporter);
  const sums = [...byReporter].map(([reporter, own]) => [reporter, sumOf(own)] as const);
  return sums.sort(([, a], [, b]) => b - a).map(([reporter]) => reporter);
}

/** “MTA-STS”; another type as it was sent. */
export function nameOfPolicy(policyType: string | null): string {
  if (policyType === null) return 'Not stated';
  return NAMES[policyType] ?? toSafeText(policyType, 60);
}

const NAMES: Readonly<Record<string, string>> = {
  sts: 'MTA-STS',
  tlsa: 'DANE',
  'no-policy-found': 'No policy',
};

/** The sessions of each type in one sentence, without the name of the domain. */
export function describeTypes(sums: readonly TlsTypeSum[], days: number): string {
  const parts = sums.map((sum, i) => describeType(sum, i === 0 ? ` in ${days} days` : ''));
  return `${parts.join('; ')}.`;
}

function describeType(sum: TlsTypeSum, when: string): string {
  const total = `${pluralize(totalOf(sum), 'session')}${when}`;
  const asked = describeAsked(sum);
  if (sum.failures === 0) return `${total}, all encrypted${asked}`;
  return `${formatCount(sum.failures)} of ${total} not encrypted${asked}`;
}

function describeAsked({ policyType, mode }: TlsTypeSum): string {
  if (policyType === null || policyType === 'no-policy-found')
    return ', where senders found no policy that asks for it';
  return ` as ${nameOfPolicy(policyType)} asks${mode === null ? '' : ` (${mode})`}`;
}
