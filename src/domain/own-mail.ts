import { addTo, addUp, type Counts, failedOf } from './pass-rate.ts';
import { addSafely } from './safe-sum.ts';
import type { Verdict } from './senders/sender.ts';
import type { Mark } from './sources/source.ts';

/*
 * Whose mail a policy would stop. Only mail of the owner counts, because failures of others are what a policy is for
 * (decision 125).
 */

/** Whose messages of a sender are that fail. `passing`: none fail. `stranger`: probably not the owner's. */
export type Standing = 'passing' | 'own' | 'undecided' | 'forwarded' | 'stranger' | 'foreign';

/** Fewer messages of a sender that nobody recognises say nothing. */
const MIN_MESSAGES = 10;

interface JudgedSender {
  readonly verdict: Verdict;
  readonly mark: Mark | undefined;
  readonly isScattered: boolean;
  readonly messages: number;
}

/** Whose the messages are that a sender sent, by one of its addresses or all. What passes needs no verdict: no policy stops it. */
export function toStanding(sender: JudgedSender, counts: Counts): Standing {
  const { verdict, mark, isScattered, messages } = sender;
  if (failedOf(counts) === 0) return 'passing';
  if (verdict === 'yours' || verdict === 'needs_setup') return 'own';
  if (verdict === 'passed_on') return 'forwarded';
  if (verdict === 'forged') return mark === undefined ? 'stranger' : 'foreign';
  return isScattered || messages < MIN_MESSAGES ? 'stranger' : 'undecided';
}

export interface MailOfStanding extends Counts {
  /** Addresses. */
  readonly sources: number;
}

export type MailByStanding = Readonly<Record<Standing, MailOfStanding>>;

/**
 * All mail, by the standing of what addresses sent. The messages in `all` of no address pass, or have the standing that is
 * given.
 */
export function sumByStanding(
  sources: Iterable<Counts & { readonly standing: Standing }>,
  all: Counts,
  others: Standing = 'undecided',
): MailByStanding {
  const sums = {
    passing: toSum(),
    own: toSum(),
    undecided: toSum(),
    forwarded: toSum(),
    stranger: toSum(),
    foreign: toSum(),
  };
  for (const { standing, ...counts } of sources) {
    addTo(sums[standing], counts);
    sums[standing].sources += 1;
  }
  const known = addUp(Object.values(sums));
  const aligned = Math.max(0, all.aligned - known.aligned);
  addTo(sums.passing, { messages: aligned, aligned });
  const failed = Math.max(0, all.messages - known.messages - aligned);
  addTo(sums[others], { messages: failed, aligned: 0 });
  return sums;
}

const toSum = () => ({ messages: 0, aligned: 0, sources: 0 });

/**
 * What a stronger policy can harm: all mail but what failed of others, which is marked as unknown, forwarded, or sent by
 * strangers.
 */
export function toOwnCounts(
  { messages, aligned }: Counts,
  { foreign, forwarded, stranger }: MailByStanding,
): Counts {
  const others = failedOf(addUp([foreign, forwarded, stranger]));
  return { messages: Math.max(aligned, messages - others), aligned };
}

/** What a sender that nobody recognises has to send before it is asked about: much, or some on many days. */
const ASKED = { messages: 100, some: 20, days: 7 };

/**
 * Whether a sender keeps a domain from a stronger policy: one of the owner's that fails in its latest days, or one that is
 * asked about. Nothing depends on its share of the mail, which strangers can make small.
 */
export function isBlocking(
  standing: Standing,
  { failed, days, isFailing }: { failed: number; days: number; isFailing: boolean },
): boolean {
  if (standing === 'own') return isFailing;
  const isSteady = failed >= ASKED.some && days >= ASKED.days;
  return standing === 'undecided' && (failed >= ASKED.messages || isSteady);
}

/** Not 100, because forwarders and mailing lists break signatures, whatever the domain's owner does. */
const GOOD_PERCENT = 99;

/** Whether nearly all pass, or there are none. */
export function isGood({ messages, aligned }: Counts): boolean {
  return messages === 0 || BigInt(aligned) * 100n > BigInt(messages) * BigInt(GOOD_PERCENT);
}

/** More forwarded mail than this, in hundredths of it and of the owner's, is looked at before a policy stops it. */
const MAX_FORWARDED_PERCENT = 5;

/** What others send again passes, too, and counts for nobody. */
export function isMuchForwarded({ forwarded }: MailByStanding, owned: Counts): boolean {
  const failed = failedOf(forwarded);
  const all = addSafely(owned.messages, failed);
  return BigInt(failed) * 100n > BigInt(all) * BigInt(MAX_FORWARDED_PERCENT);
}
