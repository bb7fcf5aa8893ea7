import type { DomainFacts, FailingSender, ScopedMail, UnsignedSender } from './domain-facts.ts';
import { addDays, type Day, daysBetween } from './instant.ts';
import { isGood, isMuchForwarded, type MailOfStanding, toOwnCounts } from './own-mail.ts';
import { addUp, type Counts, failedOf } from './pass-rate.ts';
import { addSafely } from './safe-sum.ts';
import { findTarget, findWeakTag } from './target-policy.ts';

/* Whether a domain can have a stronger policy. The next step (next-step.ts) is about the first thing that keeps it from one. */

/** The days of reports over which the pass rate is taken. */
export const WINDOW_DAYS = 30;
/** How many days of the window need data before a stronger policy is advised. */
export const MIN_DATA_DAYS = 20;
/** Among fewer messages, some senders may not have been seen in a month. */
export const MANY_MESSAGES = 1_000;
/** A domain with less mail needs so many days without mail of its own that fails. */
export const QUIET_DAYS = 90;
/** Before mail is refused, what failed so long ago counts: a newsletter may come once in three months. */
export const HISTORY_DAYS = 120;
/** Nearly all reports are received within so many days of their own. */
export const LAG_DAYS = 7;
/** A domain is silent after so many times its own longest gap. */
const GAPS = 3;

export type Obstacle =
  | { readonly kind: 'silent'; readonly newest: Day }
  | MailObstacle
  /** Anybody may have sent the reports. */
  | { readonly kind: 'unproven' }
  | { readonly kind: 'no_passing_mail' }
  /** The owner says that the domain sends no mail, and so many messages passed. */
  | { readonly kind: 'sends_after_all'; readonly messages: number }
  | FewData;

export interface MailObstacle {
  /** `unsigned`: it passes by SPF alone. */
  readonly kind: 'own' | 'undecided' | 'forwarded' | 'stranger' | 'unsigned';
  readonly mail: MailOfStanding;
  readonly senders: readonly FailingSender[];
}

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
  /** What `yes` would stop. */
  readonly stopped: readonly MailObstacle[];
}

const WAITING: ReadonlySet<Obstacle['kind']> = new Set(['few_data', 'silent', 'unproven']);

/** Whether mail that fails is rejected, or can be. */
export function assess(facts: DomainFacts): Readiness {
  const obstacles = listObstacles(facts);
  const isWaiting = obstacles.every(({ kind }) => WAITING.has(kind));
  const answer = isReached(facts) ? 'reached' : isWaiting ? 'wait' : 'not_yet';
  return {
    answer: answer === 'wait' && obstacles.length === 0 ? 'yes' : answer,
    obstacles,
    stopped: listStopped(facts),
  };
}

/** Who says that a domain sends no mail has said whose all of it is. */
function listStopped(facts: DomainFacts): readonly MailObstacle[] {
  const mail = facts.sendsNoMail ? undefined : scopeOf(facts).mail;
  if (mail === undefined) return [];
  const { standings, failing, strangers, forwarders } = mail;
  const of = (kind: 'own' | 'undecided') => failing.filter((one) => kindOf(one) === kind);
  const senders = { own: of('own'), undecided: of('undecided'), strangers, forwarders };
  return (
    [
      { kind: 'own', mail: standings.own, senders: senders.own },
      { kind: 'undecided', mail: standings.undecided, senders: senders.undecided },
      { kind: 'stranger', mail: standings.stranger, senders: senders.strangers },
      { kind: 'forwarded', mail: standings.forwarded, senders: senders.forwarders },
    ] as const
  ).filter((one) => failedOf(one.mail) > 0);
}

export const isOwnVerdict = ({ verdict }: Pick<FailingSender, 'verdict'>): boolean =>
  verdict === 'yours' || verdict === 'needs_setup';

const kindOf = (sender: FailingSender) => (isOwnVerdict(sender) ? 'own' : 'undecided');

/** Mail that fails is rejected, whatever names the mail has: those that no mail has are for the next step. */
function isReached(facts: DomainFacts): boolean {
  const tag = findWeakTag(facts);
  if (tag === undefined) return true;
  const below = facts.mail && addUp(Object.values(facts.mail.below.standings));
  return tag !== 'p' && below?.messages === 0;
}

/** What keeps a domain from a stronger policy; empty when nothing does. The owner's word that it sends no mail is enough. */
function listObstacles(facts: DomainFacts): readonly Obstacle[] {
  const { aligned } = facts.counts;
  if (facts.sendsNoMail)
    return aligned === 0 ? [] : [{ kind: 'sends_after_all', messages: aligned }];
  const mail = scopeOf(facts).mail;
  const silence = findSilence(facts);
  const isEmpty = hasNoPassingMail(facts);
  const unsigned = listUnsigned(facts);
  // More reports do not tell whether a domain sends mail: its owner does.
  const few = isEmpty ? undefined : findTooFewData(facts);
  return [
    ...(silence === undefined ? [] : [silence]),
    ...(isEmpty ? [{ kind: 'no_passing_mail' as const }] : listFailing(facts)),
    ...(unsigned.length === 0
      ? []
      : [toObstacle('unsigned', unsigned, ({ latest }) => latest.unsigned)]),
    ...(mail && isMuchForwarded(mail.standings, ownedOf(facts))
      ? [{ kind: 'forwarded' as const, mail: mail.standings.forwarded, senders: mail.forwarders }]
      : []),
    ...(facts.isUnproven ? [{ kind: 'unproven' as const }] : []),
    ...(few === undefined ? [] : [few]),
  ];
}

/** Senders that block, the owner's and those that are asked about, most failures first. */
function listFailing(facts: DomainFacts): readonly MailObstacle[] {
  const { counts } = facts;
  // Nobody asked who sent.
  if (facts.mail === undefined)
    return isGood(counts)
      ? []
      : [{ kind: 'undecided', mail: { ...counts, sources: 0 }, senders: [] }];
  const all = findBlocking(facts);
  const asked = scopeOf(facts).mail?.standings.undecided;
  return (['own', 'undecided'] as const)
    .map((kind) => [kind, all.filter((one) => kindOf(one) === kind)] as const)
    .filter(([, senders]) => senders.length > 0)
    .map(([kind, senders]) => {
      const blocking = toObstacle(kind, senders, failedOf);
      // What a person is asked about is all that nobody has recognised, as the list of sources has it.
      return kind === 'own' || asked === undefined ? blocking : { ...blocking, mail: asked };
    })
    .sort((a, b) => failedOf(b.mail) - failedOf(a.mail));
}

function toObstacle<Sender extends FailingSender>(
  kind: MailObstacle['kind'],
  senders: readonly Sender[],
  toMessages: (sender: Sender) => number,
): MailObstacle {
  const mail = { messages: 0, aligned: 0, sources: 0 };
  for (const sender of senders) {
    mail.messages = addSafely(mail.messages, toMessages(sender));
    mail.sources += sender.sources;
  }
  return { kind, mail, senders };
}

/** Before mail is refused, those count, too, that failed when they last sent, months ago. */
export function findBlocking(facts: DomainFacts): readonly FailingSender[] {
  const { mail } = facts;
  if (mail === undefined) return [];
  const now = (scopeOf(facts).mail?.failing ?? []).filter((one) => one.isBlocking);
  if (findTarget(facts) !== 'reject' || findWeakTag(facts) !== 'p') return now;
  return [...now, ...mail.past.filter(({ key }) => !now.some((one) => one.key === key))];
}

/** A policy of reject must not rest on SPF alone (RFC 9989, 7.4 and 8). */
export function listUnsigned(facts: DomainFacts): readonly UnsignedSender[] {
  return findTarget(facts) === 'none' ? [] : (facts.mail?.unsigned ?? []);
}

/** What senders of the owner's sent. */
export function ownedOf({ mail, counts }: DomainFacts): Counts {
  return mail?.owned ?? counts;
}

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

/** Reports about a domain that sends seldom come seldom. */
export function findSilence({
  newest,
  today,
  openAlerts,
  gap = 1,
}: Pick<DomainFacts, 'newest' | 'today' | 'openAlerts' | 'gap'>) {
  if (newest === null) return undefined;
  const isMissing = openAlerts.some(({ type }) => type === 'alert.reports_missing');
  const usual = Math.max(isMissing ? 0 : LAG_DAYS, GAPS * gap);
  return daysBetween(newest, today) > usual ? { kind: 'silent' as const, newest } : undefined;
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
  const { oldest, newest, today, mail } = facts;
  const { messages } = ownedOf(facts);
  const dataDays = mail?.owned.days ?? facts.dataDays;
  if (hasMonth(facts) && dataDays >= MIN_DATA_DAYS && messages >= MANY_MESSAGES) return undefined;
  const days = oldest === null || newest === null ? 0 : daysBetween(oldest, today);
  if (mail?.isQuiet && days >= QUIET_DAYS) return undefined;
  const daysToGo = mail?.isQuiet && hasMonth(facts) ? QUIET_DAYS - days : undefined;
  return { kind: 'few_data', dataDays, messages, daysToGo };
}
