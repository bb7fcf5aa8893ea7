import type { Instant } from '../instant.ts';
import { type Day, daysBetween, toDay } from '../instant.ts';
import type { Facts, KnownAlert } from './facts.ts';
import type { Thresholds } from './thresholds.ts';

/**
 * Something that gives reason for an alert: open while it lasts, over when it has ended. What is known of it
 * follows from the facts alone, so reports in any order give the same.
 */
export interface Occurrence {
  /** What tells it from others of its type; empty when there can be but one at a time. */
  readonly subject: string;
  readonly isOver: boolean;
  readonly context: Readonly<Record<string, unknown>>;
}

/** An alert type: when it fires and resolves, and why. */
export interface AlertRule {
  readonly type: string;
  /** The occurrences that may have fired by now, oldest first. Whatever is not among them is resolved. */
  readonly findOccurrences: (facts: Facts, thresholds: Thresholds) => readonly Occurrence[];
  /** How far from firing or resolving it is, in sentences with figures. */
  readonly explain: (facts: Facts, thresholds: Thresholds) => readonly string[];
}

/** Alerts of one type, open ones and those that matter still, latest first. */
export function alertsOf({ alerts }: Facts, type: string): readonly KnownAlert[] {
  return alerts.filter((alert) => alert.type === type);
}

export function findOpen(facts: Facts, type: string, subject: string): KnownAlert | undefined {
  return alertsOf(facts, type).find((alert) => alert.isOpen && alert.subject === subject);
}

/** Whether something of this day may fire now: not long gone (backfill), and not from before the resuming. */
export function isFresh(day: Day, { now, watchedSince }: Facts, thresholds: Thresholds): boolean {
  return daysBetween(day, toDay(now)) <= thresholds.maxAgeDays && isWatched(day, watchedSince);
}

/** A domain that is resumed starts afresh: what lies before that day gives no reason for an alert. */
export function isWatched(day: Day, watchedSince: Instant | null): boolean {
  return watchedSince === null || day >= toDay(watchedSince);
}
