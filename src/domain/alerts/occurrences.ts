import { addDays, toDay } from '../instant.ts';
import { DAYS_SILENT } from '../reports/authentication.ts';
import type { AlertFacts, AnyAlertRule } from './registry.ts';
import type { Occurrence } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

/** One domain as alerts look at it: in one way, or with reports of anybody, and with those of established reporters only. */
export type Views = readonly [AlertFacts, ...AlertFacts[]];

/**
 * The occurrences that any of the views has: an alert fires when one says so, and lasts until all have come to its end. The
 * context tells when no established reporter says so, and whether the domain has one. What established reporters say comes
 * first: strangers' reports take neither the place of an alert nor the mail about it.
 */
export function findOccurrences(
  rule: AnyAlertRule,
  views: Views,
  thresholds: Thresholds,
): readonly Occurrence[] {
  const [all, established] = views;
  if (established === undefined) return rule.findOccurrences(all, thresholds);
  const sure = rule.findOccurrences(established, thresholds);
  const doubt = { unauthenticated: true, ...(isHeard(established) && { unconfirmed: true }) };
  const lasting = sure.filter(isLasting);
  const isTaken = ({ subject }: Occurrence) =>
    lasting.some((one) => rule.isSingle || one.subject === subject);
  const doubtful = rule
    .findOccurrences(all, thresholds)
    .filter((one) => !isLasting(one) || !isTaken(one))
    .map(({ context, ...rest }) => ({ ...rest, context: { ...context, ...doubt } }));
  return merge(sure, doubtful);
}

function isHeard({ days, now }: AlertFacts): boolean {
  const newest = days.at(-1)?.day;
  return newest !== undefined && newest >= addDays(toDay(now), -DAYS_SILENT);
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

const isLasting = ({ ending }: Occurrence): boolean => ending === null;

type Subject = Pick<Occurrence, 'subject' | 'context'>;

/** Whether an alert or an occurrence is about the same as another of its type. */
export function isSame(a: Subject, b: Subject): boolean {
  return a.subject === b.subject && a.context['day'] === b.context['day'];
}
