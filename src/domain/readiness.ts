import {
  findPolicyTag,
  findTestTags,
  type Policy,
  type PolicyTag,
  type RecordValue,
  toPolicies,
} from './dns/dns-record.ts';
import { addDays, type Day, daysBetween } from './instant.ts';
import {
  isGood,
  isMuchForwarded,
  type MailByStanding,
  type MailOfStanding,
  toOwnCounts,
} from './own-mail.ts';
import { addUp, type Counts, failedOf } from './pass-rate.ts';
import type { Verdict } from './senders/sender.ts';
import type { Signature } from './sources/evidence.ts';

/* Whether a domain can have a stronger policy. The next step (next-step.ts) is about the first thing that keeps it from one. */

/** The days of reports over which the pass rate is taken. */
export const WINDOW_DAYS = 30;
/** How many days of the window need data before a stronger policy is advised. */
export const MIN_DATA_DAYS = 20;
/** Among fewer messages, some senders may not have been seen in a month. */
export const MANY_MESSAGES = 1_000;
/** A domain with less mail needs so many days without mail of its own that fails. */
export const QUIET_DAYS = 90;
/** Nearly all reports are received within so many days of their own. */
export const LAG_DAYS = 7;

/** What the next step and the readiness of a domain depend on. Only reports that are believed count. */
export interface DomainFacts {
  readonly status: 'active' | 'paused';
  /** The owner says that nothing is sent in the domain's name. */
  readonly sendsNoMail: boolean;
  readonly today: Day;
  /** The first and the newest day that a report begins on. */
  readonly oldest: Day | null;
  readonly newest: Day | null;
  /** What was sent in the 30 days that end with the newest one, and in the 30 days before. */
  readonly counts: Counts;
  readonly before: Counts;
  /** How many of the 30 days have messages. */
  readonly dataDays: number;
  /**
   * The confirmed DMARC record; while no check of DNS has confirmed one, the tags that reports state of it; undefined when
   * none do.
   */
  readonly record: RecordValue | undefined;
  readonly openAlerts: readonly OpenAlert[];
  /** undefined where nobody asked whose the mail is: then all of it counts as the owner's. */
  readonly mail?: JudgedMail | undefined;
}

/** Whose the mail of the 30 days is. */
export interface JudgedMail {
  readonly all: ScopedMail;
  /** The part of it that names subdomains in the header From. */
  readonly below: ScopedMail;
  /** Whether no mail of the owner failed in QUIET_DAYS days. */
  readonly isQuiet: boolean;
}

/** Mail by its standing, and the senders of what fails: most failures first. */
export interface ScopedMail {
  readonly standings: MailByStanding;
  /** Those that may be the owner's. */
  readonly failing: readonly FailingSender[];
  readonly forwarders: readonly FailingSender[];
  readonly strangers: readonly FailingSender[];
}

/** A sender (senders/sender.ts), as a sentence names it. */
export interface FailingSender extends Counts {
  readonly key: string;
  readonly title: string;
  readonly verdict: Verdict;
  /** The domain's own signature that does not verify. */
  readonly broken: Signature | undefined;
}

export interface OpenAlert {
  readonly type: string;
  /** The day that it is about. */
  readonly day: Day | undefined;
  /** The sentence that names who caused it. */
  readonly cause?: string | undefined;
}

export type Obstacle =
  | { readonly kind: 'silent'; readonly newest: Day }
  | { readonly kind: 'own' | 'undecided' | 'forwarded' | 'stranger'; readonly mail: MailOfStanding }
  | { readonly kind: 'no_passing_mail' }
  /** The owner says that the domain sends no mail, and so many messages passed. */
  | { readonly kind: 'sends_after_all'; readonly messages: number }
  | FewData;

interface FewData {
  readonly kind: 'few_data';
  readonly dataDays: number;
  readonly messages: number;
  /** How many days a domain with so little mail still needs; undefined for one with more. */
  readonly daysToGo: number | undefined;
}

export interface Readiness {
  /** `wait`: nothing is wrong, and more reports are needed to say so. */
  readonly answer: 'reached' | 'yes' | 'not_yet' | 'wait';
  /** The most important one first. */
  readonly obstacles: readonly Obstacle[];
  readonly strangers: MailOfStanding | undefined;
  readonly forwarded: MailOfStanding | undefined;
}

const NO_MAIL: MailOfStanding = { messages: 0, aligned: 0, sources: 0 };

/** Whether mail that fails is rejected, or can be. */
export function assess(facts: DomainFacts): Readiness {
  // Who says that a domain sends no mail has said whose all of it is.
  const mail = facts.sendsNoMail ? undefined : scopeOf(facts).mail?.standings;
  const obstacles = listObstacles(facts);
  const isWaiting = obstacles.every(({ kind }) => kind === 'few_data' || kind === 'silent');
  const answer = isReached(facts) ? 'reached' : isWaiting ? 'wait' : 'not_yet';
  return {
    answer: answer === 'wait' && obstacles.length === 0 ? 'yes' : answer,
    obstacles,
    strangers: isFailing(mail?.stranger) ? mail?.stranger : undefined,
    forwarded: isFailing(mail?.forwarded) ? mail?.forwarded : undefined,
  };
}

/** Mail that fails is rejected, whatever names the mail has: those that no mail has are for the next step. */
function isReached(facts: DomainFacts): boolean {
  const tag = findWeakTag(facts);
  if (tag === undefined) return true;
  const below = facts.mail && addUp(Object.values(facts.mail.below.standings));
  return tag !== 'p' && below?.messages === 0;
}

/** The policy that the answer is about: one step at a time, but for a domain that sends no mail. */
export function findTarget({ record, sendsNoMail }: DomainFacts): Exclude<Policy, 'absent'> {
  const { p } = toPolicies(record ?? null);
  if (sendsNoMail) return 'reject';
  if (record === undefined) return 'quarantine';
  if (p === 'absent') return 'none';
  if (p === 'none') return 'quarantine';
  return findTestTags(record).length > 0 ? p : 'reject';
}

/** What keeps a domain from a stronger policy; empty when nothing does. The owner's word that it sends no mail is enough. */
function listObstacles(facts: DomainFacts): readonly Obstacle[] {
  const { aligned } = facts.counts;
  if (facts.sendsNoMail)
    return aligned === 0 ? [] : [{ kind: 'sends_after_all', messages: aligned }];
  const mail = scopeOf(facts).mail?.standings;
  const silence = findSilence(facts);
  // More reports do not tell whether a domain sends mail: its owner does.
  const few = hasNoPassingMail(facts) ? undefined : findTooFewData(facts);
  const whose = mail ?? { own: NO_MAIL, undecided: { ...facts.counts, sources: 0 } };
  const failing =
    findFailingCounts(facts) === undefined
      ? []
      : (['own', 'undecided'] as const)
          .map((kind) => ({ kind, mail: whose[kind] }))
          .filter((one) => isFailing(one.mail))
          .sort((a, b) => b.mail.messages - b.mail.aligned - (a.mail.messages - a.mail.aligned));
  return [
    ...(silence === undefined ? [] : [silence]),
    ...(hasNoPassingMail(facts) ? [{ kind: 'no_passing_mail' as const }] : failing),
    ...(mail && isMuchForwarded(mail)
      ? [{ kind: 'forwarded' as const, mail: mail.forwarded }]
      : []),
    ...(few === undefined ? [] : [few]),
  ];
}

const isFailing = (mail: MailOfStanding | undefined): boolean =>
  mail !== undefined && mail.messages > mail.aligned;

/**
 * The mail that the next policy is for: where the policy of the domain itself is there already, that of subdomains alone.
 * The counts are the owner's.
 */
export function scopeOf(facts: DomainFacts): { mail: ScopedMail | undefined; counts: Counts } {
  const { mail, counts } = facts;
  if (mail === undefined) return { mail, counts };
  const tag = findWeakTag(facts);
  if (tag !== 'sp' && tag !== 'np')
    return { mail: mail.all, counts: toOwnCounts(counts, mail.all.standings) };
  const { standings } = mail.below;
  const all = addUp(Object.values(standings));
  return { mail: mail.below, counts: toOwnCounts(all, standings) };
}

/** Fewer messages of a sender in 30 days are no reason to wait. */
const MIN_BLOCKED = 100;

/**
 * The owner's mail, when too much of it fails: more than one in a hundred, or most of what one sender of the owner sends, who
 * would lose it all.
 */
export function findFailingCounts(facts: DomainFacts): Counts | undefined {
  const { counts } = scopeOf(facts);
  return isGood(counts) && findBlocked(facts) === undefined ? undefined : counts;
}

export function findBlocked(facts: DomainFacts): FailingSender | undefined {
  return scopeOf(facts).mail?.failing.find((sender) => {
    const isOwn = sender.verdict === 'yours' || sender.verdict === 'needs_setup';
    return isOwn && failedOf(sender) >= MIN_BLOCKED && 2 * failedOf(sender) > sender.messages;
  });
}

/** The tag that keeps some mail that fails from being rejected; undefined when all of it is. */
export function findWeakTag({ record }: Pick<DomainFacts, 'record'>): PolicyTag | undefined {
  const policies = toPolicies(record ?? null);
  if (policies.p !== 'reject' || findTestTags(record ?? null).length > 0) return 'p';
  return (['sp', 'np'] as const).find((tag) => policies[tag] !== 'reject');
}

export function policyOf({ record }: DomainFacts, tag: PolicyTag): Policy | null {
  return findPolicyTag(record ?? null, tag);
}

export function findSilence({
  newest,
  today,
  openAlerts,
}: Pick<DomainFacts, 'newest' | 'today' | 'openAlerts'>) {
  if (newest === null) return undefined;
  const isMissing = openAlerts.some(({ type }) => type === 'alert.reports_missing');
  const isSilent = isMissing || daysBetween(newest, today) > LAG_DAYS;
  return isSilent ? { kind: 'silent' as const, newest } : undefined;
}

/**
 * In a month nothing passed, and nothing shows that what failed is the owner's: the domain probably sends no mail. Where one
 * sender that nobody recognises sent most of it, its owner may have set up nothing: then that sender is asked about first.
 */
export function hasNoPassingMail({ counts, mail, ...facts }: DomainFacts): boolean {
  if (mail === undefined || counts.aligned > 0 || !hasMonth(facts)) return false;
  const { standings, failing } = mail.all;
  const isAsked = 2 * (failing[0]?.messages ?? 0) > counts.messages;
  return standings.own.messages === 0 && !isAsked;
}

function hasMonth({ oldest, newest }: Pick<DomainFacts, 'oldest' | 'newest'>): boolean {
  return oldest !== null && newest !== null && oldest <= addDays(newest, 1 - WINDOW_DAYS);
}

/** A domain with little mail is judged by a longer time instead. */
export function findTooFewData(facts: DomainFacts): FewData | undefined {
  const { dataDays, oldest, newest, counts, mail } = facts;
  const { messages } = mail === undefined ? counts : toOwnCounts(counts, mail.all.standings);
  if (hasMonth(facts) && dataDays >= MIN_DATA_DAYS && messages >= MANY_MESSAGES) return undefined;
  const days = oldest === null || newest === null ? 0 : daysBetween(oldest, newest) + 1;
  if (mail?.isQuiet && days >= QUIET_DAYS) return undefined;
  const daysToGo = mail?.isQuiet && hasMonth(facts) ? QUIET_DAYS - days : undefined;
  return { kind: 'few_data', dataDays, messages, daysToGo };
}
