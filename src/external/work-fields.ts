import type { components } from '../../generated/v1.d.ts';
import { type Counts, failedOf, toChange, toPassRate } from '../domain/alerts/rate.ts';
import { findTag, findTestTags, toPolicies } from '../domain/dns/dns-record.ts';
import type { DayRange } from '../domain/instant.ts';
import type { NextStep, Strangers } from '../domain/next-step.ts';
import { describeStep } from '../domain/next-step-texts.ts';
import {
  assess,
  type DomainFacts,
  type FailingSender,
  findTarget,
  type Obstacle,
} from '../domain/readiness.ts';
import type { settleWork, WorkItem } from '../store/domains/work.ts';
import { toVerdict } from './verdicts.ts';

/* What the overview and a domain have alike. */

type Schemas = components['schemas'];
export type Settled = Awaited<ReturnType<typeof settleWork>>[number];

/** `address` is where the record of a domain should ask for reports. */
export function toWorkFields(item: Settled, range: DayRange, address: string | undefined) {
  return {
    figures: toFigures(item, range),
    readiness: toReadiness(item.settled),
    next_step: toNextStep(item, address),
  };
}

function toFigures(
  { facts, reporters, aside }: Settled,
  { from, to }: DayRange,
): Schemas['Figures'] {
  const { counts, before } = facts;
  return {
    from,
    until: to,
    total_messages: counts.messages,
    aligned_messages: counts.aligned,
    pass_rate: toRate(counts),
    total_messages_before: before.messages,
    aligned_messages_before: before.aligned,
    pass_rate_before: toRate(before),
    change: toChange(facts) ?? null,
    reporters,
    set_aside_reports: aside.reports,
    set_aside_messages: aside.messages,
  };
}

const toRate = (counts: Counts) => (counts.messages === 0 ? null : toPassRate(counts));

export function toPolicy({ facts, statedOn }: WorkItem): Schemas['KnownPolicy'] {
  const { record } = facts;
  const { p, sp, np } = toPolicies(record ?? null);
  const [pct] = findTestTags(record ?? null).flatMap((tag) => /^pct=(.*)/.exec(tag)?.[1] ?? []);
  return {
    ...(p === 'absent' ? { p: null, sp: null, np: null } : { p, sp, np }),
    pct: pct === undefined ? null : Number(pct),
    testing: findTag(record ?? null, 't')?.toLowerCase() === 'y',
    known_from: record === undefined ? null : statedOn === undefined ? 'dns' : 'reports',
    day: statedOn ?? null,
  };
}

function toReadiness(facts: DomainFacts): Schemas['Readiness'] {
  const { answer, obstacles, strangers, forwarded } = assess(facts);
  const stopped: readonly Obstacle[] =
    answer !== 'yes'
      ? []
      : [
          ...(strangers ? [{ kind: 'stranger' as const, mail: strangers }] : []),
          ...(forwarded ? [{ kind: 'forwarded' as const, mail: forwarded }] : []),
        ];
  return { answer, target: findTarget(facts), reasons: [...obstacles, ...stopped].map(toReason) };
}

function toReason(obstacle: Obstacle): Schemas['ReadinessReason'] {
  const nothing = { messages: null, sources: null, data_days: null, days_to_go: null };
  const reason = { ...nothing, code: obstacle.kind };
  if ('mail' in obstacle)
    return { ...reason, messages: failedOf(obstacle.mail), sources: obstacle.mail.sources };
  if (obstacle.kind === 'few_data') {
    const { messages, dataDays, daysToGo = null } = obstacle;
    return { ...reason, messages, data_days: dataDays, days_to_go: daysToGo };
  }
  return 'messages' in obstacle ? { ...reason, messages: obstacle.messages } : reason;
}

const MAX_SENDERS = 10;

function toNextStep(
  { id, name, facts: { record }, step }: Settled,
  address: string | undefined,
): Schemas['NextStep'] {
  const { text, code: publish = null } = describeStep(step, { id, name, address, record });
  const named = { ...NOTHING_NAMED, ...toNamed(step) };
  const senders = listSenders(step).slice(0, MAX_SENDERS).map(toSender);
  return { code: step.kind, text, record: publish, ...named, senders };
}

const NOTHING_NAMED = {
  ...{ alert_type: null, day: null, tag: null, policy: null },
  ...{ messages: null, aligned_messages: null, data_days: null, days_to_go: null },
};

/** What a step names besides its senders. */
function toNamed(step: NextStep): Partial<Schemas['NextStep']> {
  switch (step.kind) {
    case 'alert':
      return { alert_type: step.type, day: step.day ?? null };
    case 'silent':
      return { day: step.newest };
    case 'wait': {
      const { messages, dataDays, daysToGo = null } = step;
      return { messages, data_days: dataDays, days_to_go: daysToGo };
    }
    case 'failing':
      return { messages: step.counts.messages, aligned_messages: step.counts.aligned };
    case 'sends_after_all':
      return { messages: step.messages };
    case 'enforce':
      return { policy: step.policy, ...toCounts(step.strangers) };
    case 'stronger':
      return { tag: step.tag, policy: step.to, ...toCounts(step.strangers) };
    default:
      return {};
  }
}

const toCounts = (strangers: Strangers) =>
  strangers && { messages: strangers.messages, aligned_messages: strangers.aligned };

function listSenders(step: NextStep): readonly FailingSender[] {
  if (step.kind === 'failing') return step.sender === undefined ? [] : [step.sender];
  if (step.kind === 'forwarded') return step.senders;
  return 'strangers' in step ? (step.strangers?.senders ?? []) : [];
}

const toSender = ({ title, verdict, messages, aligned }: FailingSender) => ({
  sender: title,
  verdict: toVerdict(verdict),
  total_messages: messages,
  aligned_messages: aligned,
});
