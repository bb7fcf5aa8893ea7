import { type Day, daysBetween, type Instant, toDay } from '../instant.ts';
import type { Facts, KnownAlert } from './facts.ts';
import { isResolution, RESOLUTION_TEXTS, type Resolution } from './resolution.ts';
import type { Thresholds } from './thresholds.ts';

/** An alert is open while its occurrence lasts. Occurrences follow from the facts alone, in any order of reports. */
export interface Occurrence {
  /** Distinguishes it from other occurrences of its type; empty when there can be only one at a time. */
  readonly subject: string;
  /** Why it has ended; null while it lasts. */
  readonly ending: Resolution | null;
  readonly context: Readonly<Record<string, unknown>>;
}

export interface AlertRule<Type extends string = string> {
  readonly type: Type;
  /** Whether a domain has at most one at a time, whatever its subject. */
  readonly isSingle?: boolean;
  /** The occurrences that may have fired by now, oldest first. An open alert without one is resolved. */
  readonly findOccurrences: (facts: Facts, thresholds: Thresholds) => readonly Occurrence[];
  /**
   * Why an open alert without any occurrence resolves, when there is a reason of its type. A domain that was
   * paused since, and figures that have changed, are reasons of every type.
   */
  readonly findEnding?: (
    alert: KnownAlert,
    facts: Facts,
    thresholds: Thresholds,
  ) => Resolution | undefined;
  /** How far it is from firing or resolving, in sentences with figures. */
  readonly explain: (facts: Facts, thresholds: Thresholds) => readonly string[];
}

/** How far a type is from firing or resolving, and why its last alert resolved, in sentences with figures. */
export function explainRule(rule: AlertRule, facts: Facts, thresholds: Thresholds): string[] {
  const sentences = [...rule.explain(facts, thresholds)];
  const alerts = alertsOf(facts, rule.type);
  if (alerts.some(({ isOpen }) => isOpen)) return sentences;
  const last = alerts.toSorted((a, b) => ((a.resolvedAt ?? '') < (b.resolvedAt ?? '') ? 1 : -1))[0];
  const resolution = last?.context['resolution'];
  if (!isResolution(resolution)) return sentences;
  const why = `${resolution} (${RESOLUTION_TEXTS[resolution]})`;
  return [...sentences, `The last one resolved at ${last?.resolvedAt}: ${why}.`];
}

/** Alerts of one type, open ones and recent ones, latest first. */
export function alertsOf({ alerts }: Facts, type: string): readonly KnownAlert[] {
  return alerts.filter((alert) => alert.type === type);
}

export function findOpen(facts: Facts, type: string, subject: string): KnownAlert | undefined {
  return alertsOf(facts, type).find((alert) => alert.isOpen && alert.subject === subject);
}

/** Whether this day may fire now: it is recent (no backfill) and not from before the domain was resumed. */
export function isFresh(day: Day, { now, watchedSince }: Facts, thresholds: Thresholds): boolean {
  return daysBetween(day, toDay(now)) <= thresholds.maxAgeDays && isWatched(day, watchedSince);
}

/** Alerts of a resumed domain start again: days before the day of resuming do not count. */
export function isWatched(day: Day, watchedSince: Instant | null): boolean {
  return watchedSince === null || day >= toDay(watchedSince);
}
