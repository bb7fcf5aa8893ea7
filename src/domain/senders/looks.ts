import { addSafely } from '../safe-sum.ts';
import type { Facts, SeenMail, Signature } from '../sources/evidence.ts';
import type { Writable } from '../sources/source.ts';
import { sendsForOthers } from './party.ts';
import type { Homes, MailOfParty } from './signature-homes.ts';

/** What messages look like. */
const NO_LOOKS = {
  /** Somebody passes on what was signed elsewhere, or the receiver says so. */
  carried: 0,
  said: 0,
  /** Something of the owner passes, though receivers need not count it. */
  passes: 0,
  uncounted: 0,
  strict: 0,
  /** Nothing of the owner passes: DNS did not answer the receiver; it is authenticated as somebody else; SPF forbids it. */
  unanswered: 0,
  foreign: 0,
  refused: 0,
  silent: 0,
} as const;

export type Look = keyof typeof NO_LOOKS;

/** Messages by their look. Those that are signed as the domain, and not passed on, count as valid or invalid, too. */
export type Tally = Writable<Record<Look | 'valid' | 'invalid', number>>;

export function sumTallies(all: readonly Tally[]): Tally {
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const sum = { ...NO_LOOKS, valid: 0, invalid: 0 } as Tally;
  for (const one of all)
    for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] = addSafely(sum[key], one[key]);
  return sum;
}

export interface LookContext {
  readonly factsOf: (seen: SeenMail) => Facts;
  readonly homes: Homes;
}

/** An address with its party. `canPassOn`: it is none of the owner's. */
interface Looked extends MailOfParty {
  readonly canPassOn: boolean;
  readonly ownName: string | undefined;
}

export function toTally(looked: Looked, { factsOf, homes }: LookContext): Tally {
  const tally = sumTallies([]);
  for (const { seen, messages } of looked.mail.results) {
    const facts = factsOf(seen);
    const look = findLook(facts, looked, homes);
    tally[look] = addSafely(tally[look], messages);
    if (look === 'carried' || look === 'said') continue;
    if (isValid(facts)) tally.valid = addSafely(tally.valid, messages);
    else if (findInvalid(facts, looked, homes)) tally.invalid = addSafely(tally.invalid, messages);
  }
  return tally;
}

export function findLook(facts: Facts, { party, canPassOn }: Looked, homes: Homes): Look {
  const isCarried = canPassOn && !facts.spf.isAligned && homes.passesOn(facts, party);
  return isCarried ? 'carried' : toLook(facts, sendsForOthers(party));
}

const isValid = (facts: Facts) => facts.ownSignatures.some(({ result }) => result === 'pass');

/**
 * Receivers need not know every kind of signature, so one is enough. Where DNS did not answer, the key may be right. Anybody
 * can write or copy a signature that fails: it is the owner's where others of the same sender verify, or the sender is known
 * otherwise.
 */
export function findInvalid(
  facts: Facts,
  { party, ownName }: Pick<Looked, 'party' | 'ownName'>,
  { isUsed }: Homes,
): Signature | undefined {
  if (isValid(facts)) return undefined;
  const isOwner = facts.spf.isAligned || ownName !== undefined || sendsForOthers(party);
  return facts.ownSignatures.find(
    (one) => !['pass', 'temperror'].includes(one.result ?? '') && (isOwner || isUsed(one, party)),
  );
}

function toLook(facts: Facts, sends: boolean): Look {
  const { spf } = facts;
  if (facts.isDkimAligned || spf.isAligned) return 'passes';
  if (facts.isForwarded && !sends) return 'said';
  if (facts.uncounted !== undefined) return 'uncounted';
  if (facts.ownSpf !== undefined || facts.ownSignature !== undefined) return 'strict';
  if (isUnanswered(facts)) return 'unanswered';
  if (facts.foreignSpf !== undefined || facts.foreignSignature !== undefined) return 'foreign';
  return spf.result === 'fail' ? 'refused' : 'silent';
}

function isUnanswered({ spf, spfDomain, brokenSignature }: Facts): boolean {
  const isOwnSpf = spfDomain !== undefined;
  return brokenSignature?.result === 'temperror' || (isOwnSpf && spf.result === 'temperror');
}
