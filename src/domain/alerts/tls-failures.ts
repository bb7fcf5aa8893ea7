import { formatCount, formatDay, pluralize } from '../text.ts';
import { describeFailure, EFFECT_TEXTS, toEffect } from '../tls/failure-texts.ts';
import { sumCauses, type TlsCounts, type TlsDay, totalOf } from '../tls/tls-day.ts';
import { nameOfPolicy } from '../tls/tls-summary.ts';
import { type AlertContext, formatRate, isContext } from './context.ts';
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
import {
  type GroupDay,
  listGroupDays,
  TLS_GROUPS,
  type TlsGroup,
  type TypeDay,
} from './tls-group-days.ts';

export const TLS_FAILURES = 'alert.tls_failures';

/** Failures of a day that are enough for a rate of 2 %, and those that are enough for 10 %. */
const [MANY, FEW] = [20, 3];
const [LOW_PERCENT, HIGH_PERCENT] = [2, 10];
/** Reporters of whom each has seen some of a few failures. */
const REPORTERS = 2;
/** Two good days end it where they have so many sessions. */
const GOOD_SESSIONS = 3;
/** Data days after which it is the new normal. */
const LASTING_DAYS = 14;
const LISTED = 10;

interface Facts extends CommonFacts {
  /** What believed TLS reports say, the newest day first. */
  readonly tls: readonly TlsDay[];
}

/** How many days that have TLS reports the rule looks back on: a group of policies may lack some. */
export const toTlsDays = ({ maxAgeDays }: Thresholds) => maxAgeDays + 2 + 2 * LASTING_DAYS;

/** Sessions of mail to the domain had not the TLS that its policies ask for. */
export const tlsFailures: AlertRule<typeof TLS_FAILURES, Facts> = {
  type: TLS_FAILURES,
  findOccurrences: (facts, thresholds) =>
    TLS_GROUPS.flatMap((group) =>
      replay(group, facts, thresholds).map((failing) => toOccurrence(group, failing)),
    ),
  findEnding: ({ context }, { tls }) =>
    String(context['day']) < (tls.at(-1)?.day ?? '') ? 'new_normal' : undefined,
  explain: (facts, thresholds) => {
    const open = tlsFailures
      .findOccurrences(facts, thresholds)
      .filter(({ ending }) => ending === null);
    return [
      ...(open.length === 0
        ? ['Not open.']
        : open.map(({ context }) => `Open: ${describe(context)}`)),
      `It fires when ${MANY} sessions of a day fail and they are ${LOW_PERCENT} %, or ${FEW} and ${HIGH_PERCENT} %, seen by ${REPORTERS} reporters or on two data days in a row. Each type of policy counts by itself.`,
      `It resolves after two data days in a row with ${GOOD_SESSIONS} sessions together, each with at most one failure or under ${LOW_PERCENT} %, or after ${LASTING_DAYS} data days.`,
    ];
  },
  title: 'TLS failures',
  describe,
  advice:
    'Servers that deliver mail to the domain do not get the TLS that it asks for: see what fails.',
  findCause,
  urgency: 4,
  link: 'tls',
  isLasting: false,
};

interface Failing {
  readonly index: number;
  readonly day: GroupDay;
  /** The type of policy whose rate is the worst. */
  readonly worst: TypeDay;
  ending: Resolution | null;
}

/** Evaluates each day as if it were the newest. A day that ends one fires no other. */
function replay(group: TlsGroup, facts: Facts, thresholds: Thresholds): Failing[] {
  const days = listGroupDays(facts.tls, group);
  const mayFire = mayFireOn(group, facts, thresholds);
  const found: Failing[] = [];
  for (const [index, day] of days.entries()) {
    const open = found.at(-1);
    if (open?.ending === null) {
      open.ending = findEnding(open, index, days);
      continue;
    }
    const worst = findWorst(day, days[index - 1]);
    if (worst !== undefined && mayFire(day)) found.push({ index, day, worst, ending: null });
  }
  return found;
}

function mayFireOn(group: TlsGroup, facts: Facts, thresholds: Thresholds) {
  const own = listOfType(facts, TLS_FAILURES).filter(({ subject }) => subject === group);
  const fired = new Set(own.map(({ context }) => context['day']));
  return ({ day }: GroupDay) =>
    isFresh(day, facts, thresholds) || (fired.has(day) && isWatched(day, facts.watchedSince));
}

/** The type of policy that fails too much on the day; of several the one with the highest rate. */
function findWorst({ types }: GroupDay, before: GroupDay | undefined): TypeDay | undefined {
  return types
    .filter((type) => {
      const former = before?.types.find(({ policyType }) => policyType === type.policyType);
      return isTooMuch(type, former);
    })
    .sort((a, b) => rateOf(b) - rateOf(a) || b.failures - a.failures)[0];
}

function isTooMuch(type: TypeDay, former: TypeDay | undefined): boolean {
  const { failures, reporters } = type;
  if (failures >= MANY && rateOf(type) >= LOW_PERCENT) return true;
  if (rateOf(type) < HIGH_PERCENT) return false;
  const tellers = reporters.filter((one) => one.failures > 0).length;
  if (failures >= FEW && tellers >= REPORTERS) return true;
  if (former === undefined || rateOf(former) < HIGH_PERCENT) return false;
  return failures + former.failures >= FEW;
}

const rateOf = (counts: TlsCounts) => (100 * counts.failures) / Math.max(1, totalOf(counts));

function findEnding({ index: since }: Failing, index: number, days: readonly GroupDay[]) {
  const last = days.slice(Math.max(since + 1, index - 1), index + 1);
  const sessions = last.reduce((sum, { types }) => sum + Math.max(...types.map(totalOf)), 0);
  if (last.length === 2 && sessions >= GOOD_SESSIONS && last.every(isGood)) return 'recovered';
  return index - since >= LASTING_DAYS ? 'new_normal' : null;
}

const isGood = ({ types }: GroupDay): boolean =>
  types.every((type) => type.failures <= 1 || rateOf(type) < LOW_PERCENT);

function toOccurrence(group: TlsGroup, { day: { day }, worst, ending }: Failing): Occurrence {
  const { policyType, mode, failures, reporters, causes } = worst;
  const context = {
    day,
    enforced: group === 'enforced',
    failure_rate: Math.round(100 * rateOf(worst)) / 100,
    failed_sessions: failures,
    total_sessions: totalOf(worst),
    policy_type: policyType,
    mode,
    result_types: sumCauses(causes, 'resultType')
      .slice(0, LISTED)
      .map(([result_type, failed_sessions]) => ({ result_type, failed_sessions })),
    mx_hosts: sumCauses(causes, 'mxHost')
      .slice(0, LISTED)
      .map(([mx_host, failed_sessions]) => ({ mx_host, failed_sessions })),
    reporters: reporters
      .toSorted((a, b) => b.failures - a.failures || totalOf(b) - totalOf(a))
      .slice(0, LISTED)
      .map((one) => ({
        ...{ reporter: one.reporter, failed_sessions: one.failures, total_sessions: totalOf(one) },
      })),
  };
  return { subject: group, ending, context };
}

function describe(context: AlertContext): string {
  const { day, failed_sessions: failed, total_sessions: total, policy_type, mode } = context;
  const policyType = typeof policy_type === 'string' ? policy_type : null;
  const policy = `${nameOfPolicy(policyType)}${typeof mode === 'string' ? `, ${mode}` : ''}`;
  const when = typeof day === 'string' ? ` on ${formatDay(day)}` : '';
  const counts = `${formatCount(Number(failed))} of ${pluralize(Number(total), 'session')} (${formatRate(context['failure_rate'])}) failed${when} (${policy}).`;
  return `${findCause(context).text} ${counts} ${describeEffect(context)}`;
}

/** What failed most, and what to do. No sender of the domain’s fails: the subject of mails has the title. */
function findCause(context: AlertContext): Cause {
  const first = (list: string, name: string) => {
    const [one] = Array.isArray(context[list]) ? context[list] : [];
    return isContext(one) && typeof one[name] === 'string' ? one[name] : null;
  };
  const names = { mxHost: first('mx_hosts', 'mx_host'), reason: null };
  const reporter = first('reporters', 'reporter') ?? 'A reporter';
  const failed = first('result_types', 'result_type') ?? 'unknown';
  const { sentence, step } = describeFailure(failed, { ...names, reporter }, null);
  return { sender: undefined, text: `${sentence} ${step}` };
}

function describeEffect({ policy_type, mode }: AlertContext): string {
  const isMode = mode === 'enforce' || mode === 'testing' || mode === 'none';
  const policyType = typeof policy_type === 'string' ? policy_type : null;
  return EFFECT_TEXTS[toEffect({ policyType, mode: isMode ? mode : null })];
}
