import type { KnownAlert } from './facts.ts';
import { findOccurrences, isSame, type Views } from './occurrences.ts';
import { type AlertFacts, type AnyAlertRule, RULES } from './registry.ts';
import type { Resolution } from './resolution.ts';
import { listOfType, type Occurrence } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

/** What has to change so that the open alerts are those that follow from the facts. */
export type Decision =
  | { readonly kind: 'fire'; readonly type: string; readonly occurrence: Occurrence }
  | { readonly kind: 'resolve'; readonly alert: KnownAlert; readonly resolution: Resolution }
  /** Late reports have changed the figures of an open alert. */
  | {
      readonly kind: 'update';
      readonly alert: KnownAlert;
      readonly context: KnownAlert['context'];
    };

/** Decisions for one domain. After they are carried out, the same facts lead to no further decision. */
export function decide(views: Views, thresholds: Thresholds): Decision[] {
  return RULES.flatMap((rule) => decideType(rule, views, thresholds));
}

function decideType(rule: AnyAlertRule, views: Views, thresholds: Thresholds): Decision[] {
  const { type } = rule;
  const [facts] = views;
  const known = listOfType(facts, type);
  const open = known.filter(({ isOpen }) => isOpen);
  const occurrences = findOccurrences(rule, views, thresholds);
  // An occurrence that ended before any evaluation is fired as well. Otherwise late reports could not reopen it.
  const unknown = occurrences.filter(
    (occurrence) =>
      !(occurrence.ending === null ? open : known).some((alert) => isSame(alert, occurrence)),
  );
  return [
    // Resolving comes first, because another occurrence of the same subject is a new alert.
    ...open.flatMap((alert) => {
      const about = occurrences.filter((occurrence) => isSame(alert, occurrence));
      const lasting = about.find(({ ending }) => ending === null);
      if (lasting !== undefined) return decideOpen(alert, lasting);
      const resolution = about[0]?.ending ?? findEnding(rule, alert, { facts, thresholds });
      return [{ kind: 'resolve' as const, alert, resolution }];
    }),
    ...unknown.map((occurrence) => ({ kind: 'fire' as const, type, occurrence })),
  ];
}

/** Why an alert resolves that has no occurrence any more. */
function findEnding(
  rule: AnyAlertRule,
  alert: KnownAlert,
  { facts, thresholds }: { facts: AlertFacts; thresholds: Thresholds },
): Resolution {
  const ofType = rule.findEnding?.(alert, facts, thresholds);
  if (ofType !== undefined) return ofType;
  const isResumed = facts.watchedSince !== null && alert.firedAt < facts.watchedSince;
  return isResumed ? 'paused' : 'reports_corrected';
}

function decideOpen(alert: KnownAlert, { context }: Occurrence): Decision[] {
  // Contexts are JSON, and a rule always names its keys in the same order.
  const isUnchanged = JSON.stringify(context) === JSON.stringify(alert.context);
  return isUnchanged ? [] : [{ kind: 'update', alert, context }];
}
