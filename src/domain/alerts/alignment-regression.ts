import { type Day, END_OF_TIME, toDay } from '../instant.ts';
import {
  addUp,
  type Counts,
  type DayCounts,
  isDrop,
  isWithin,
  toDrop,
  toPassRate,
} from '../pass-rate.ts';
import type { FailureCause } from '../sources/failure-cause.ts';
import { formatCount, formatDay, pluralize } from '../text.ts';
import { type AlertContext, formatNumber, formatRate, isContext } from './context.ts';
import type { CommonFacts } from './facts.ts';
import type { Resolution } from './resolution.ts';
import {
  type AlertRule,
  type Cause,
  isFresh,
  isWatched,
  listOfType,
  type Occurrence,
} from './rule.ts';
import type { Thresholds } from './thresholds.ts';

const TYPE = 'alert.alignment_regression';

interface Facts extends CommonFacts {
  /** Who sends most of what fails since the pass rate fell; only while it lasts. */
  readonly cause?: FailureCause | undefined;
}

/** The pass rate of a day fell far below that of the days before it. */
export const alignmentRegression: AlertRule<typeof TYPE, Facts> = {
  type: TYPE,
  findOccurrences: (facts, thresholds) =>
    replay(facts, thresholds).map((found) => toOccurrence(found, facts)),
  // The days that it was compared with have gone by age, or the rules do not look back on them any more.
  findEnding: ({ context }, { days }, { baselineDays }) =>
    String(context['day']) < (days[baselineDays]?.day ?? toDay(END_OF_TIME))
      ? 'new_normal'
      : undefined,
  explain: (facts, thresholds) => {
    const last = findLasting(facts, thresholds);
    return last === undefined
      ? explainLatest(facts, thresholds)
      : explainOpen(last, facts, thresholds);
  },
  title: 'Pass rate fell',
  describe: describeFall,
  advice: 'The pass rate fell: find out whose messages fail since then.',
  findCause,
  urgency: 2,
  link: 'sources',
  isLasting: true,
};

/** The regression that is open, or would be. */
export function findLasting(facts: Facts, thresholds: Thresholds): Regression | undefined {
  const last = replay(facts, thresholds).at(-1);
  return last?.ending === null ? last : undefined;
}

interface Regression {
  readonly index: number;
  readonly day: DayCounts;
  readonly before: Counts;
  ending: Resolution | null;
}

/**
 * Evaluates each day as if it were the newest, so that the order of arrival does not matter. A day that is no longer
 * fresh counts if it fired while it was fresh.
 */
function replay(facts: Facts, thresholds: Thresholds): Regression[] {
  const found: Regression[] = [];
  const mayFire = mayFireOn(facts, thresholds);
  for (const [index, day] of facts.days.entries()) {
    const open = found.at(-1);
    if (open?.ending === null) open.ending = findEnding(open, { index, day }, thresholds);
    if (open?.ending === null) continue;
    const before = baselineOf(facts.days, index, thresholds);
    if (before === undefined || !mayFire(day.day)) continue;
    if (isRegression(before, day, thresholds)) found.push({ index, day, before, ending: null });
  }
  return found;
}

function mayFireOn(facts: Facts, thresholds: Thresholds): (day: Day) => boolean {
  const fired = new Set(listOfType(facts, TYPE).map(({ context }) => context['day']));
  return (day) =>
    isFresh(day, facts, thresholds) || (fired.has(day) && isWatched(day, facts.watchedSince));
}

function baselineOf(
  days: readonly DayCounts[],
  index: number,
  { baselineDays }: Thresholds,
): Counts | undefined {
  return index < baselineDays ? undefined : addUp(days.slice(index - baselineDays, index));
}

function isRegression(before: Counts, day: Counts, t: Thresholds): boolean {
  const hasEnough = before.messages >= t.minMessages && day.messages >= t.minMessages;
  return hasEnough && isDrop(before, day, t.dropPoints);
}

function findEnding(
  { index: since, before }: Regression,
  { index, day }: { index: number; day: DayCounts },
  t: Thresholds,
): Resolution | null {
  if (day.messages >= t.minMessages && isWithin(before, day, t.recoveryPoints)) return 'recovered';
  return index - since >= t.regressionDays ? 'new_normal' : null;
}

function toOccurrence({ day, before, ending }: Regression, { cause }: Facts): Occurrence {
  const context = {
    drop_pct: toDrop(before, day),
    prev_pass_rate: toPassRate(before),
    curr_pass_rate: toPassRate(day),
    day: day.day,
    message_count: day.messages,
    failed_count: day.messages - day.aligned,
    ...(ending === null && cause && { cause }),
  };
  return { subject: '', ending, context };
}

function explainOpen({ index, day, before }: Regression, { days }: Facts, t: Thresholds) {
  const later = days.length - 1 - index;
  const rate = toPassRate(before);
  return [
    `Open: on ${day.day} ${toPassRate(day)} % of ${day.messages} messages passed, ${toDrop(before, day)} points under the ${rate} % of the ${t.baselineDays} data days before.`,
    `It resolves on a later day with at least ${t.minMessages} messages within ${t.recoveryPoints} points of ${rate} %, or when ${t.regressionDays} data days have passed; ${later} have.`,
  ];
}

function explainLatest(facts: Facts, t: Thresholds): string[] {
  const { days } = facts;
  const day = days.at(-1);
  if (day === undefined) return ['Not open: there are no reports yet.'];
  const before = baselineOf(days, days.length - 1, t);
  if (before === undefined)
    return [`Not open: ${days.length - 1} of ${t.baselineDays} data days lie before ${day.day}.`];
  const counts = `${day.day} has ${day.messages} messages, the ${t.baselineDays} data days before it ${before.messages}`;
  if (day.messages < t.minMessages || before.messages < t.minMessages)
    return [`Not open: ${counts}; both sides need ${t.minMessages}.`];
  return [
    `Not open: ${counts}.`,
    `${toPassRate(day)} % passed, and ${toPassRate(before)} % before: a drop of ${toDrop(before, day)} points; it fires at ${t.dropPoints}, on a day at most ${t.maxAgeDays} days old.`,
    ...(isRegression(before, day, t) ? explainSilence(day.day, facts, t) : []),
  ];
}

/** Why a drop that is large enough does not fire. */
function explainSilence(day: Day, facts: Facts, t: Thresholds): string[] {
  const { watchedSince } = facts;
  if (!isWatched(day, watchedSince))
    return [`It does not fire: the domain was resumed at ${watchedSince}, after ${day}.`];
  if (!isFresh(day, facts, t)) return [`It does not fire: ${day} is too old.`];
  return [`It does not fire: it has fired for ${day} or for a day before it, and resolved since.`];
}

function describeFall(context: AlertContext): string {
  const { day, message_count: messages, failed_count: failed } = context;
  const drop = formatNumber(context['drop_pct']);
  const [prev, curr] = ['prev_pass_rate', 'curr_pass_rate'].map((name) =>
    formatRate(context[name]),
  );
  const fall = `The pass rate fell by ${drop} points, from ${prev} to ${curr}.`;
  const told = [findCause(context)?.text, fall].filter(Boolean).join(' ');
  if (typeof messages !== 'number' || typeof failed !== 'number') return told;
  const when = typeof day === 'string' ? ` on ${formatDay(day)}` : '';
  return `${told} ${formatCount(failed)} of ${pluralize(messages, 'message')} failed${when}.`;
}

function findCause({ day, cause }: AlertContext): Cause | undefined {
  if (typeof day !== 'string' || !isContext(cause)) return undefined;
  const sender = String(cause['sender']);
  const { signing_domain: domain, selector, service } = cause;
  return {
    sender,
    text: describeCause(sender, cause, formatDay(day)),
    ...(typeof domain === 'string' && {
      signature: {
        domain,
        selector: typeof selector === 'string' ? selector : null,
        service: typeof service === 'string' ? service : undefined,
      },
    }),
  };
}

function describeCause(sender: string, cause: AlertContext, day: string): string {
  const { selector, signing_domain: domain, message_count, failed_count } = cause;
  if (typeof domain === 'string') {
    const key = typeof selector === 'string' ? ` (selector ${selector})` : '';
    return `${sender} stopped signing correctly on ${day}${key}: compare its key.`;
  }
  return `${sender} sent ${pluralize(Number(message_count), 'message')} since ${day}, of which ${formatCount(Number(failed_count))} failed. If it is yours, its page says what to do. If not, mark it as unknown.`;
}
