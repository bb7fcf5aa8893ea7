import { findRule } from './alerts/registry.ts';
import { SENDER_FAILING } from './alerts/sender-failing.ts';
import { findTestTags, type Policy, type PolicyTag, toPolicies } from './dns/dns-record.ts';
import type { DomainFacts, FailingSender, OpenAlert, UnsignedSender } from './domain-facts.ts';
import type { Day } from './instant.ts';
import { isGood, isMuchForwarded, type MailOfStanding } from './own-mail.ts';
import { type Counts, failedOf } from './pass-rate.ts';
import {
  findBlocking,
  findSilence,
  findTooFewData,
  hasNoPassingMail,
  isOwnVerdict,
  listUnsigned,
  ownedOf,
  scopeOf,
} from './readiness.ts';
import { findWeakTag, policyOf } from './target-policy.ts';

export interface AlertStep extends OpenAlert {
  readonly kind: 'alert';
  readonly today: Day;
  /** What is wrong with the key of its cause, and what to do, as DNS has it. */
  readonly fault?: string | undefined;
}

/** Messages of strangers that fail, where more than a few of all messages do: the owner looks at them first. */
export type Strangers =
  | (MailOfStanding & { readonly senders: readonly FailingSender[] })
  | undefined;

export type NextStep =
  | {
      readonly kind:
        | 'resume'
        | 'first_reports'
        | 'publish_record'
        | 'one_record'
        | 'no_passing_mail'
        | 'nothing';
    }
  | AlertStep
  | { readonly kind: 'silent'; readonly newest: Day }
  | {
      readonly kind: 'wait';
      readonly dataDays: number;
      readonly messages: number;
      readonly daysToGo: number | undefined;
      /** Anybody may have sent the reports that came. */
      readonly isUnproven?: boolean | undefined;
    }
  | {
      readonly kind: 'failing';
      readonly counts: Counts;
      /** The first to look at; undefined where nobody asked who sent. */
      readonly sender: FailingSender | undefined;
      /** How many more there are. */
      readonly others: number;
      /** The policy asks for their rejection. */
      readonly isRejected: boolean;
    }
  /** Mail of the owner's passes by SPF alone. */
  | { readonly kind: 'sign'; readonly senders: readonly UnsignedSender[] }
  /** Much mail is passed on by others, and would be stopped. */
  | { readonly kind: 'forwarded'; readonly senders: readonly FailingSender[] }
  /** The owner says that the domain sends no mail. Where some passes, the word may be wrong. */
  | { readonly kind: 'lock' }
  | { readonly kind: 'sends_after_all'; readonly messages: number }
  /** The policy is published, and these tags keep it from all or some of the mail. */
  | {
      readonly kind: 'enforce';
      readonly policy: Policy;
      readonly tags: readonly string[];
      readonly owned: Counts;
      readonly strangers: Strangers;
    }
  | { readonly kind: 'policy_unknown'; readonly owned: Counts }
  | {
      readonly kind: 'stronger';
      readonly tag: PolicyTag;
      /** The policy that the tag has now; null when the record has no such tag, or none that receivers know. */
      readonly from: Policy | null;
      readonly to: Policy;
      readonly owned: Counts;
      readonly strangers: Strangers;
    };

/** Each rule gives a step or nothing; the first step counts. */
const RULES: readonly ((facts: DomainFacts) => NextStep | undefined)[] = [
  ({ status }) => (status === 'paused' ? { kind: 'resume' } : undefined),
  // Several records count as none, so no reports come.
  ({ record }) => (record?.includes('\n') ? { kind: 'one_record' } : undefined),
  ({ newest, sendsNoMail }) =>
    newest === null && !sendsNoMail ? { kind: 'first_reports' } : undefined,
  findAlert,
  (facts) => (facts.sendsNoMail ? findLock(facts) : undefined),
  findSilence,
  ({ record }) => (record === null ? { kind: 'publish_record' } : undefined),
  // Messages that fail are not delivered under `reject`, so only failures of the owner's need a step.
  (facts) => (findWeakTag(facts) === undefined ? findRejected(facts) : undefined),
  (facts) => (hasNoPassingMail(facts) ? { kind: 'no_passing_mail' } : undefined),
  (facts) => findFailing(facts, isOwnVerdict),
  findUnsigned,
  (facts) => findFailing(facts, () => true),
  findForwarded,
  (facts) => {
    const few = findTooFewData(facts);
    const { isUnproven } = facts;
    if (few === undefined && !isUnproven) return undefined;
    const { messages } = facts.counts;
    return {
      dataDays: facts.dataDays,
      messages,
      daysToGo: undefined,
      ...few,
      kind: 'wait',
      isUnproven,
    };
  },
  findTest,
  findStronger,
];

export function findNextStep(facts: DomainFacts): NextStep {
  for (const rule of RULES) {
    const step = rule(facts);
    if (step !== undefined) return step;
  }
  return { kind: 'nothing' };
}

/** A sender of the owner's that stopped signing comes before what strangers may send; a type of a later version comes last. */
const urgencyOf = ({ type, cause }: OpenAlert): number =>
  cause?.signature ? 0 : (findRule(type)?.urgency ?? Number.MAX_SAFE_INTEGER);

function findAlert(facts: DomainFacts): NextStep | undefined {
  const { openAlerts, marked, today } = facts;
  // The alert stays open until its addresses are quiet, but there is nothing more to do about it.
  const asking = openAlerts.filter(({ sources }) => !sources?.every((one) => marked?.has(one)));
  const [first] = asking.toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
  // The step about a sender says more of it.
  if (first?.type === SENDER_FAILING && findFailing(facts, isOwnVerdict)) return undefined;
  return first && { kind: 'alert', ...first, today };
}

function findLock(facts: DomainFacts): NextStep {
  const { aligned } = facts.counts;
  if (aligned > 0) return { kind: 'sends_after_all', messages: aligned };
  return findWeakTag(facts) === undefined ? { kind: 'nothing' } : { kind: 'lock' };
}

function findRejected({ mail, ...facts }: DomainFacts): NextStep {
  const own = mail?.all.failing.filter((one) => isOwnVerdict(one) && one.isBlocking) ?? [];
  if (own.length > 0) return toFailing({ ...facts, mail }, own, true);
  return findUnsigned({ ...facts, mail }) ?? { kind: 'nothing' };
}

/** Strangers are asked about after what the owner mends. */
function findFailing(
  facts: DomainFacts,
  isMeant: (sender: FailingSender) => boolean,
): NextStep | undefined {
  const blocking = findBlocking(facts).filter(isMeant);
  const isGoodSoFar = facts.mail === undefined ? isGood(facts.counts) : blocking.length === 0;
  return isGoodSoFar ? undefined : toFailing(facts, blocking, false);
}

/** The one with most failures leads. */
function toFailing(
  facts: DomainFacts,
  senders: readonly FailingSender[],
  isRejected: boolean,
): NextStep {
  const [sender] = senders.toSorted((a, b) => failedOf(b) - failedOf(a));
  const { counts } = scopeOf(facts);
  return { kind: 'failing', counts, sender, others: Math.max(0, senders.length - 1), isRejected };
}

function findUnsigned(facts: DomainFacts): NextStep | undefined {
  const senders = listUnsigned(facts);
  return senders.length === 0 ? undefined : { kind: 'sign', senders };
}

function findForwarded(facts: DomainFacts): NextStep | undefined {
  const { mail } = scopeOf(facts);
  if (mail === undefined || !isMuchForwarded(mail.standings, ownedOf(facts))) return undefined;
  return { kind: 'forwarded', senders: mail.forwarders };
}

/** Tags that keep a policy from all or some mail. With `p=none` there is no policy to apply. */
function findTest(facts: DomainFacts): NextStep | undefined {
  const { record = null } = facts;
  const { p: policy } = toPolicies(record);
  const tags = findTestTags(record);
  const isTest = tags.length > 0 && policy !== 'none';
  const rest = { owned: ownedOf(facts), strangers: findStrangers(facts) };
  return isTest ? { kind: 'enforce', policy, tags, ...rest } : undefined;
}

/** One step at a time: `none`, then `quarantine`, then `reject`. Subdomains follow at once. */
function findStronger(facts: DomainFacts): NextStep | undefined {
  const owned = ownedOf(facts);
  if (facts.record === undefined) return { kind: 'policy_unknown', owned };
  const tag = findWeakTag(facts);
  if (tag === undefined) return undefined;
  const isNext = tag !== 'p' || toPolicies(facts.record).p === 'quarantine';
  const to = isNext ? 'reject' : 'quarantine';
  const strangers = findStrangers(facts);
  return { kind: 'stronger', tag, from: policyOf(facts, tag), to, owned, strangers };
}

/** Nothing where nearly all mail passes with theirs. */
function findStrangers(facts: DomainFacts): Strangers {
  const { mail } = scopeOf(facts);
  if (mail === undefined || isGood(facts.counts)) return undefined;
  const { stranger } = mail.standings;
  return failedOf(stranger) === 0 ? undefined : { ...stranger, senders: mail.strangers };
}

/** What a person has to look at first has the least number. */
const RANKS: Readonly<Record<NextStep['kind'], number>> = {
  alert: 0,
  failing: 1,
  sign: 2,
  one_record: 1,
  publish_record: 1,
  sends_after_all: 1,
  silent: 2,
  forwarded: 3,
  enforce: 3,
  stronger: 3,
  lock: 3,
  no_passing_mail: 3,
  policy_unknown: 4,
  first_reports: 5,
  wait: 6,
  nothing: 7,
  resume: 8,
};

/** Somebody has to look at strangers before anything else. */
export function rankOf(step: NextStep): number {
  const isToLookAt = 'strangers' in step && step.strangers !== undefined;
  return RANKS[isToLookAt ? 'failing' : step.kind];
}
