import { addTo, addUp, type Counts, failedOf } from './alerts/rate.ts';
import type { Day } from './instant.ts';
import { type DomainFacts, findSilence, findTooFewData, isGood } from './next-step.ts';
import type { Mark } from './sources/source.ts';
import { MIN_MESSAGES, type Verdict } from './sources/verdict.ts';

/*
 * Whether a domain can have a stronger policy: only mail of its owner counts, because failures of others are what the
 * policy is for (decision 125).
 */

/** Whose messages of a source are that fail. `passing`: none fail. `stranger`: probably not the owner's. */
export type Standing = 'passing' | 'own' | 'undecided' | 'forwarded' | 'stranger' | 'foreign';

/**
 * A mark decides, then the verdict. Without one, a source is the owner's when some of its messages pass: nobody else can
 * sign as the domain, or sends from where its SPF record allows it. Who forges from thousands of addresses sends a few
 * messages from each: nobody can be asked about every one of them. What passes needs no verdict: no policy stops it.
 */
export function toStanding({ mark, aligned, messages, verdict }: JudgedSource): Standing {
  if (mark === 'unknown') return 'foreign';
  if (messages === aligned) return 'passing';
  if (mark === 'legitimate') return 'own';
  if (verdict === 'forwarder') return 'forwarded';
  if (verdict === 'yours' || aligned > 0) return 'own';
  const isFew = messages < MIN_MESSAGES && verdict !== 'service';
  return verdict === 'forger' || isFew ? 'stranger' : 'undecided';
}

export interface JudgedSource extends Counts {
  readonly mark: Mark | undefined;
  /** undefined where nobody judged it. */
  readonly verdict?: Verdict | undefined;
}

export interface MailOfStanding extends Counts {
  /** Addresses. */
  readonly sources: number;
}

export type MailByStanding = Readonly<Record<Standing, MailOfStanding>>;

/** What sources sent, by their standing. */
export function sumByStanding(sources: Iterable<JudgedSource>): MailByStanding {
  const sums = toSums();
  for (const source of sources) addMail(sums[toStanding(source)], source, 1);
  return sums;
}

function addMail(sum: ReturnType<typeof toSum>, counts: Counts, sources: number): void {
  addTo(sum, counts);
  sum.sources += sources;
}

const toSums = () => ({
  passing: toSum(),
  own: toSum(),
  undecided: toSum(),
  forwarded: toSum(),
  stranger: toSum(),
  foreign: toSum(),
});

/** All mail: what some sources sent and what the others did. The messages in `all` of no source pass, or are undecided. */
export function judgeMail(parts: readonly MailByStanding[], all: Counts): MailByStanding {
  const sums = toSums();
  for (const part of parts)
    for (const [standing, mail] of Object.entries(part))
      addMail(sums[standing as Standing], mail, mail.sources);
  // Counts of sources may be too small, and never too large.
  const some = addUp(Object.values(sums));
  const aligned = Math.max(0, all.aligned - some.aligned);
  addTo(sums.passing, { messages: aligned, aligned });
  const failed = Math.max(0, all.messages - some.messages - aligned);
  addTo(sums.undecided, { messages: failed, aligned: 0 });
  return sums;
}

const toSum = () => ({ messages: 0, aligned: 0, sources: 0 });

/**
 * What a stronger policy can harm: all mail but what failed of others, which is marked as unknown, forwarded, or sent by
 * strangers. The next step and what keeps a domain from a stronger policy depend on the same counts.
 */
export function toOwnCounts(
  { messages, aligned }: Counts,
  { foreign, forwarded, stranger }: MailByStanding,
): Counts {
  const others = failedOf(addUp([foreign, forwarded, stranger]));
  return { messages: Math.max(aligned, messages - others), aligned };
}

/** What the next step has to know of strangers: nothing where nearly all mail passes with theirs. */
export function findStrangers(all: Counts, { stranger }: MailByStanding): DomainFacts['strangers'] {
  if (isGood(all) || failedOf(stranger) === 0) return undefined;
  return { messages: failedOf(stranger), sources: stranger.sources };
}

export type Obstacle =
  | { readonly kind: 'silent'; readonly newest: Day }
  | { readonly kind: 'own' | 'undecided'; readonly mail: MailOfStanding }
  | { readonly kind: 'few_data'; readonly dataDays: number; readonly messages: number };

/** What keeps a domain from a stronger policy, the most important reason first; empty when nothing does. */
export function listObstacles(facts: DomainFacts, mail: MailByStanding): readonly Obstacle[] {
  const silence = findSilence(facts);
  const few = findTooFewData(facts);
  const failing = (['own', 'undecided'] as const)
    .filter((kind) => mail[kind].messages > mail[kind].aligned)
    .map((kind) => ({ kind, mail: mail[kind] }))
    .sort((a, b) => failedOf(b.mail) - failedOf(a.mail));
  return [
    ...(silence === undefined ? [] : [silence]),
    ...(isGood(facts.counts) ? [] : failing),
    ...(few === undefined ? [] : [{ ...few, kind: 'few_data' as const }]),
  ];
}
