import { type Day, daysBetween, type Instant, toDay } from '../instant.ts';
import type { AlertContext } from './context.ts';
import type { CommonFacts, KnownAlert } from './facts.ts';
import { isResolution, RESOLUTION_TEXTS, type Resolution } from './resolution.ts';
import type { Thresholds } from './thresholds.ts';

/** An alert is open while its occurrence lasts. Occurrences follow from the facts alone, in any order of reports. */
export interface Occurrence {
  /** Distinguishes it from other occurrences of its type; empty when there can be only one at a time. */
  readonly subject: string;
  /** Why it has ended; null while it lasts. */
  readonly ending: Resolution | null;
  readonly context: AlertContext;
}

/** Who sends what fails. */
export interface Cause {
  /** A service, or the address where an alert names one sender; the subject of mails has it. */
  readonly sender: string | undefined;
  /** One sentence. */
  readonly text: string;
  /** Of the domain's owner, valid before and not since; `service` is who signs with its key. */
  readonly signature?: {
    readonly domain: string;
    readonly selector: string | null;
    readonly service: string | undefined;
  };
}

/** All that is to be said of an alert type: when it fires, and what pages, mails and next steps tell of it. */
export interface AlertRule<Type extends string, Known extends CommonFacts> {
  readonly type: Type;
  /** Whether a domain has at most one at a time, whatever its subject. */
  readonly isSingle?: boolean;
  /** The occurrences that may have fired by now, oldest first. An open alert without one is resolved. */
  readonly findOccurrences: (facts: Known, thresholds: Thresholds) => readonly Occurrence[];
  /**
   * Why an open alert without any occurrence resolves, when there is a reason of its type. A domain that was
   * paused since, and figures that have changed, are reasons of every type.
   */
  readonly findEnding?: (
    alert: KnownAlert,
    facts: Known,
    thresholds: Thresholds,
  ) => Resolution | undefined;
  /** How far it is from firing or resolving, in sentences with figures. */
  readonly explain: (facts: Known, thresholds: Thresholds) => readonly string[];
  readonly title: string;
  readonly describe: (context: AlertContext) => string;
  /** What to do next, where no cause is known. */
  readonly advice: string;
  /** undefined while it is not known. */
  readonly findCause?: (context: AlertContext) => Cause | undefined;
  /** The open alert with the least number is the next step. */
  readonly urgency: number;
  /** Where it is looked into: who failed, what DNS needs, the TLS of mail to the domain, or the alert itself. */
  readonly link: 'sources' | 'dns' | 'tls' | 'alert';
  /** Whether it is about all days since the one in its context, and not about that day alone. */
  readonly isLasting: boolean;
}

/** How far a type is from firing or resolving, and why its last alert resolved, in sentences with figures. */
export function explainRule<Known extends CommonFacts>(
  rule: AlertRule<string, Known>,
  facts: Known,
  thresholds: Thresholds,
): string[] {
  const sentences = [...rule.explain(facts, thresholds)];
  const alerts = listOfType(facts, rule.type);
  if (alerts.some(({ isOpen }) => isOpen)) return sentences;
  const last = alerts.toSorted((a, b) => ((a.resolvedAt ?? '') < (b.resolvedAt ?? '') ? 1 : -1))[0];
  const resolution = last?.context['resolution'];
  if (!isResolution(resolution)) return sentences;
  const why = `${resolution} (${RESOLUTION_TEXTS[resolution]})`;
  return [...sentences, `The last one resolved at ${last?.resolvedAt}: ${why}.`];
}

/** Alerts of one type, open ones and recent ones, latest first. */
export function listOfType({ alerts }: CommonFacts, type: string): readonly KnownAlert[] {
  return alerts.filter((alert) => alert.type === type);
}

export function findOpen(
  facts: CommonFacts,
  type: string,
  subject: string,
): KnownAlert | undefined {
  return listOfType(facts, type).find((alert) => alert.isOpen && alert.subject === subject);
}

/** Whether this day may fire now: it is recent (no backfill) and not from before the domain was resumed. */
export function isFresh(
  day: Day,
  { now, watchedSince }: CommonFacts,
  thresholds: Thresholds,
): boolean {
  return daysBetween(day, toDay(now)) <= thresholds.maxAgeDays && isWatched(day, watchedSince);
}

/** Alerts of a resumed domain start again: days before the day of resuming do not count. */
export function isWatched(day: Day, watchedSince: Instant | null): boolean {
  return watchedSince === null || day >= toDay(watchedSince);
}
