import type { components } from '../../generated/v1.d.ts';
import {
  findTag,
  findTestTags,
  type Policy,
  type PolicyTag,
  toPolicies,
} from '../domain/dns/dns-record.ts';
import type { DomainFacts, FailingSender } from '../domain/domain-facts.ts';
import type { DayRange } from '../domain/instant.ts';
import type { NextStep } from '../domain/next-step.ts';
import { describeStep } from '../domain/next-step-texts.ts';
import type { MailOfStanding } from '../domain/own-mail.ts';
import { type Counts, failedOf, toChange, toPassRate } from '../domain/pass-rate.ts';
import { assess, type Obstacle } from '../domain/readiness.ts';
import { findTarget } from '../domain/target-policy.ts';
import type { SettledItem, WorkItem } from '../judging/work.ts';
import { toVerdict } from './verdicts.ts';

/* What the overview and a domain have alike. */

type Schemas = components['schemas'];

/** `address` is where the record of a domain should ask for reports. */
export function toWorkFields(item: SettledItem, range: DayRange, address: string | undefined) {
  return {
    figures: toFigures(item, range),
    readiness: toReadiness(item.settled),
    next_step: toNextStep(item, address),
  };
}

function toFigures(
  { facts, reporters, aside }: SettledItem,
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
    ...{ p: toPublished(p), sp: toPublished(sp), np: toPublished(np) },
    pct: pct === undefined ? null : Number(pct),
    testing: findTag(record ?? null, 't')?.toLowerCase() === 'y',
    known_from: record === undefined ? null : statedOn === undefined ? 'dns' : 'reports',
    day: statedOn ?? null,
  };
}

const toPublished = (policy: Policy | null | undefined) =>
  policy === undefined || policy === 'absent' ? null : policy;

function toReadiness(facts: DomainFacts): Schemas['Readiness'] {
  const { answer, obstacles, stopped } = assess(facts);
  const reasons = [...obstacles, ...(answer === 'yes' ? stopped : [])];
  return { answer, target: findTarget(facts), reasons: reasons.map(toReason) };
}

function toReason(obstacle: Obstacle): Schemas['ReadinessReason'] {
  const of: Named & { mail?: MailOfStanding } = obstacle;
  return {
    code: obstacle.kind,
    messages: (of.mail ? failedOf(of.mail) : of.messages) ?? null,
    sources: of.mail?.sources ?? null,
    data_days: of.dataDays ?? null,
    days_to_go: of.daysToGo ?? null,
    senders: (of.senders ?? []).slice(0, MAX_SENDERS).map(toSender),
  };
}

const MAX_SENDERS = 10;

function toNextStep(
  { id, name, facts: { dns }, step }: SettledItem,
  address: string | undefined,
): Schemas['NextStep'] {
  const { text, code: publish = null } = describeStep(step, { id, name, address, dns });
  const of = toNamed(step);
  return {
    code: step.kind,
    text,
    record: publish,
    // A type that a later version has fired is one that the contract of that version lists.
    alert_type: (of.type ?? null) as Schemas['NextStep']['alert_type'],
    day: of.day ?? of.newest ?? null,
    tag: of.tag ?? null,
    policy: toPublished(of.to ?? of.policy),
    messages: of.messages ?? null,
    aligned_messages: of.aligned ?? null,
    data_days: of.dataDays ?? null,
    days_to_go: of.daysToGo ?? null,
    senders: (of.senders ?? []).slice(0, MAX_SENDERS).map(toSender),
  };
}

/** What a step, or a reason, names. */
type Named = { readonly kind: string; readonly senders?: readonly FailingSender[] } & Partial<
  Record<'type' | 'day' | 'newest', string | null | undefined> &
    Record<'to' | 'policy', Policy> & { tag: PolicyTag } & Record<
      'messages' | 'aligned' | 'dataDays' | 'daysToGo',
      number | undefined
    >
>;

function toNamed(step: NextStep): Named {
  if (step.kind === 'failing')
    return { kind: step.kind, ...step.counts, senders: step.sender ? [step.sender] : [] };
  return 'strangers' in step ? { ...step.strangers, ...step } : step;
}

const toSender = ({ title, verdict, messages, aligned }: FailingSender) => ({
  sender: title,
  verdict: toVerdict(verdict),
  total_messages: messages,
  aligned_messages: aligned,
});
