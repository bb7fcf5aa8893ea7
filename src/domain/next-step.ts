import type { Counts } from './alerts/rate.ts';
import type { AlertType } from './alerts/registry.ts';
import {
  findPolicyTag,
  findTestTags,
  type Policy,
  type RecordValue,
  toPolicies,
} from './dns/dns-record.ts';
import { addDays, type Day, daysBetween } from './instant.ts';

/** The days of reports over which the pass rate is taken. */
export const WINDOW_DAYS = 30;
/** How many days of the window need data before a stronger policy is advised. */
const MIN_DATA_DAYS = 20;
/** Among fewer messages, some senders may not have been seen. */
const MIN_MESSAGES = 1_000;
/** Not 100, because forwarders and mailing lists break signatures, whatever the domain's owner does. */
const GOOD_PERCENT = 99;
/** Days without reports after which they count as missing. Reporters lag by days. */
const SILENT_DAYS = 7;

/** What the next step of a domain depends on. */
export interface DomainFacts {
  readonly status: 'active' | 'paused';
  readonly today: Day;
  /** The first and the newest day that a report begins on. */
  readonly oldest: Day | null;
  readonly newest: Day | null;
  /** What was sent in the 30 days that end with the newest one, without what failed of others (`toOwnCounts`). */
  readonly counts: Counts;
  /** Messages of strangers that failed, where more than a few of all messages did: the owner looks at them first. */
  readonly strangers?: Strangers | undefined;
  /** How many of the 30 days have messages. */
  readonly dataDays: number;
  /**
   * The confirmed DMARC record; while no check of DNS has confirmed one, the tags that reports state of it; undefined when
   * none do.
   */
  readonly record: RecordValue | undefined;
  /** What was sent in the 30 days before, in the same way. */
  readonly before: Counts;
  readonly openAlerts: readonly OpenAlert[];
}

interface Strangers {
  readonly messages: number;
  readonly sources: number;
}

interface OpenAlert {
  readonly type: string;
  /** The day that it is about. */
  readonly day: Day | undefined;
}

export interface AlertStep extends OpenAlert {
  readonly kind: 'alert';
  readonly newest: Day | null;
}

export type NextStep =
  | { readonly kind: 'resume' | 'first_reports' | 'publish_record' | 'one_record' | 'nothing' }
  | AlertStep
  | { readonly kind: 'silent'; readonly newest: Day }
  | { readonly kind: 'wait'; readonly dataDays: number; readonly messages: number }
  /** `since`: why no alert is open, which tells of changes only. */
  | {
      readonly kind: 'failing';
      readonly counts: Counts;
      readonly since: 'first_report' | 'before' | undefined;
    }
  /** The policy is published, and these tags keep it from all or some of the mail. */
  | {
      readonly kind: 'enforce';
      readonly policy: Policy;
      readonly tags: readonly string[];
      readonly strangers: Strangers | undefined;
    }
  | {
      readonly kind: 'stronger';
      readonly tag: 'p' | 'sp';
      /** The policy that the tag has now; null when the record has no such tag, or none that receivers know. */
      readonly from: Policy | null;
      readonly to: Policy;
      readonly strangers: Strangers | undefined;
    }
  | { readonly kind: 'policy_unknown' };

/** Each rule gives a step or nothing; the first step counts. */
const RULES: readonly ((facts: DomainFacts) => NextStep | undefined)[] = [
  ({ status }) => (status === 'paused' ? { kind: 'resume' } : undefined),
  // Several records count as none, so no reports come.
  ({ record }) => (record?.includes('\n') ? { kind: 'one_record' } : undefined),
  ({ newest }) => (newest === null ? { kind: 'first_reports' } : undefined),
  findAlert,
  findSilence,
  ({ record }) => (record === null ? { kind: 'publish_record' } : undefined),
  // Messages that fail are not delivered under `reject`, so failures of others need no step.
  (facts) => (isRejecting(facts) ? findSubdomains(facts) : undefined),
  findFailing,
  findTooFewData,
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

/** Which of several open alerts comes first: that with the least number. A type of a later version comes last. */
const URGENCY: Readonly<Record<AlertType, number>> = {
  'alert.new_failing_source': 1,
  'alert.alignment_regression': 2,
  'alert.policy_weakened': 3,
  'alert.dns_record_changed': 4,
  'alert.reports_missing': 5,
};

const urgencyOf = (type: string): number => URGENCY[type as AlertType] ?? Number.MAX_SAFE_INTEGER;

function findAlert({ openAlerts, newest }: DomainFacts): NextStep | undefined {
  const [first] = openAlerts.toSorted((a, b) => urgencyOf(a.type) - urgencyOf(b.type));
  return first && { kind: 'alert', ...first, newest };
}

export function findSilence({ newest, today }: Pick<DomainFacts, 'newest' | 'today'>) {
  const isSilent = newest !== null && daysBetween(newest, today) > SILENT_DAYS;
  return isSilent ? { kind: 'silent' as const, newest } : undefined;
}

function policyOf({ record }: DomainFacts): Policy | undefined {
  return record === undefined ? undefined : toPolicies(record).p;
}

function isRejecting(facts: DomainFacts): boolean {
  return policyOf(facts) === 'reject' && findTest(facts) === undefined;
}

/** Tags that keep a policy from all or some mail. With `p=none` there is no policy to apply. */
function findTest({ record = null, strangers }: DomainFacts): NextStep | undefined {
  const { p: policy } = toPolicies(record);
  const tags = findTestTags(record);
  const isTest = tags.length > 0 && policy !== 'none';
  return isTest ? { kind: 'enforce', policy, tags, strangers } : undefined;
}

/** The domain's policy does not protect subdomains when `sp` is weaker. */
function findSubdomains({ record = null }: DomainFacts): NextStep {
  const { sp } = toPolicies(record);
  if (sp === 'reject') return { kind: 'nothing' };
  const from = findPolicyTag(record, 'sp');
  return { kind: 'stronger', tag: 'sp', from, to: 'reject', strangers: undefined };
}

function findFailing({ counts, before }: DomainFacts): NextStep | undefined {
  if (isGood(counts)) return undefined;
  const since = before.messages === 0 ? 'first_report' : isGood(before) ? undefined : 'before';
  return { kind: 'failing', counts, since };
}

/** Whether nearly all pass, or there are none. */
export function isGood({ messages, aligned }: Counts): boolean {
  return messages === 0 || BigInt(aligned) * 100n > BigInt(messages) * BigInt(GOOD_PERCENT);
}

export function findTooFewData({ counts, dataDays, oldest, newest }: DomainFacts) {
  const { messages } = counts;
  const isLong = oldest !== null && newest !== null && oldest <= addDays(newest, 1 - WINDOW_DAYS);
  const isEnough = isLong && dataDays >= MIN_DATA_DAYS && messages >= MIN_MESSAGES;
  return isEnough ? undefined : { kind: 'wait' as const, dataDays, messages };
}

/** One step at a time: `none`, then `quarantine`, then `reject`. */
function findStronger(facts: DomainFacts): NextStep | undefined {
  const policy = policyOf(facts);
  if (policy === undefined) return { kind: 'policy_unknown' };
  const to = policy === 'quarantine' ? 'reject' : 'quarantine';
  const { record = null, strangers } = facts;
  return { kind: 'stronger', tag: 'p', from: findPolicyTag(record, 'p'), to, strangers };
}

/** What a person has to look at first has the least number. */
const RANKS: Readonly<Record<NextStep['kind'], number>> = {
  alert: 0,
  failing: 1,
  one_record: 1,
  publish_record: 1,
  silent: 2,
  enforce: 3,
  stronger: 3,
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
