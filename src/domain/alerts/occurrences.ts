import type { Facts } from './facts.ts';
import { type AlertRule, findOpen, type Occurrence } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

/** One domain as alerts look at it: in one way, or with reports of anybody, and with those of established reporters only. */
export type Views = readonly [Facts, ...Facts[]];

/**
 * The occurrences that any of the views has: an alert fires when one says so, and lasts until all have come to its end. The
 * context tells when no established reporter says so.
 */
export function findOccurrences(
  rule: AlertRule,
  views: Views,
  thresholds: Thresholds,
): readonly Occurrence[] {
  const [all, established] = views;
  if (established === undefined) return rule.findOccurrences(all, thresholds);
  const sure = rule.findOccurrences(established, thresholds);
  const doubtful = rule
    .findOccurrences(all, thresholds)
    .map(({ context, ...rest }) => ({ ...rest, context: { ...context, unauthenticated: true } }));
  const merged = merge(sure, rule.isSingle && sure.some(isLasting) ? [] : doubtful);
  return dropSecondOpen(merged, rule.type, all);
}

/** What both have is as sure as the established reporters, unless only the other one lasts. */
function merge(sure: readonly Occurrence[], doubtful: readonly Occurrence[]): Occurrence[] {
  const merged = sure.map((occurrence) => {
    const other = doubtful.find((one) => isSame(one, occurrence));
    return occurrence.ending !== null && other?.ending === null ? other : occurrence;
  });
  const others = doubtful.filter((one) => !sure.some((occurrence) => isSame(one, occurrence)));
  return [...merged, ...others];
}

/** Only one alert of a subject can be open: that which is, else the surest. */
function dropSecondOpen(
  occurrences: readonly Occurrence[],
  type: string,
  facts: Facts,
): readonly Occurrence[] {
  const kept = new Map<string, Occurrence>();
  for (const one of occurrences.filter(isLasting)) {
    const open = findOpen(facts, type, one.subject);
    const isOpen = open !== undefined && open.context['day'] === one.context['day'];
    if (isOpen || !kept.has(one.subject)) kept.set(one.subject, one);
  }
  return occurrences.filter((one) => !isLasting(one) || kept.get(one.subject) === one);
}

const isLasting = ({ ending }: Occurrence): boolean => ending === null;

function isSame(a: Occurrence, b: Occurrence): boolean {
  return a.subject === b.subject && a.context['day'] === b.context['day'];
}
