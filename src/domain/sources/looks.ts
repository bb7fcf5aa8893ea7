import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import type { Facts, SeenMail, Sighting, Signature } from './evidence.ts';
import { type Party, sendsForOthers } from './party.ts';
import type { Writable } from './source.ts';

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

/** Mail of a party. */
export interface SeenAt {
  readonly party: Party;
  readonly mail: { readonly results: readonly Sighting[] };
}

interface LookContext {
  readonly factsOf: (seen: SeenMail) => Facts;
  readonly isAway: ReturnType<typeof findAway>;
  /** Not for an address of the owner's. */
  readonly canPassOn: boolean;
}

export function toTally({ party, mail }: SeenAt, context: LookContext): Tally {
  const tally = sumTallies([]);
  const sends = sendsForOthers(party);
  const canPassOn = context.canPassOn && !sends;
  for (const { seen, messages } of mail.results) {
    const facts = context.factsOf(seen);
    const isCarried = canPassOn && !facts.spf.isAligned && context.isAway(facts, party);
    const look = isCarried ? 'carried' : toLook(facts, sends);
    tally[look] = addSafely(tally[look], messages);
    if (look === 'carried' || look === 'said') continue;
    if (isValid(facts)) tally.valid = addSafely(tally.valid, messages);
    else if (findInvalid(facts)) tally.invalid = addSafely(tally.invalid, messages);
  }
  return tally;
}

const isValid = (facts: Facts) => facts.ownSignatures.some(({ result }) => result === 'pass');

/** Receivers need not know every kind of signature, so one is enough. Where DNS did not answer, the key may be right. */
export function findInvalid(facts: Facts): Signature | undefined {
  const { brokenSignature: broken } = facts;
  return broken?.result === 'temperror' || isValid(facts) ? undefined : broken;
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
  return brokenSignature?.result === 'temperror' || (!!spfDomain && spf.result === 'temperror');
}

/** How many messages of a party have a signature. `right`: SPF passes, too, or the party sends for others. */
interface Use {
  readonly key: string;
  all: number;
  right: number;
  valid: number;
}

/** Uses of a signature by the key of the party, for each signature that `toKey` names. */
type Uses = Map<string, Map<string, Use>>;

/**
 * Tells whether somebody passes a party's messages on, as far as signatures of the domain show: by selector, they are made
 * where most of them are sent by right, or else are valid. Elsewhere they are intact, or broken on the way.
 */
export function findAway(
  all: readonly SeenAt[],
  factsOf: LookContext['factsOf'],
): (facts: Facts, party: Party) => boolean {
  const uses: Uses = new Map();
  for (const { party, mail } of all)
    for (const { seen, messages } of mail.results) addUses(uses, party, factsOf(seen), messages);
  const homeOf = remember((key: string) => toHome([...(uses.get(key)?.values() ?? [])]));
  return ({ ownSignatures, isDkimAligned, foreignSpf }, party) => {
    const isAway = (signature: Signature) => {
      const key = toKey(signature);
      const home = homeOf(key);
      // Customers of one network, or of one service with mailboxes, pass on what others of them send.
      if (home.key === party.key)
        return party.kind !== 'domain' && isAwayAtHome(home, foreignSpf !== undefined);
      // SPF of somebody else shows that it is no server of the owner's, when the key is right.
      if (foreignSpf !== undefined && (isDkimAligned || 2 * home.valid > home.all)) return true;
      return isRare(uses.get(key)?.get(party.key)?.all ?? 0, home.known);
    };
    return ownSignatures.length > 0 && ownSignatures.every(isAway);
  };
}

function isAwayAtHome({ all, right }: Use, isForeign: boolean): boolean {
  return isForeign ? 2 * right > all : isRare(all - right, right);
}

/** What is not rare may come from servers of the owner's that SPF does not list. */
const isRare = (messages: number, others: number) => 4 * messages <= others;

/** The home, and how many messages are known to be sent by right, there and elsewhere. */
function toHome(uses: readonly Use[]): Use & { readonly known: number } {
  const [home] = uses.toSorted(
    (a, b) => b.right - a.right || b.valid - a.valid || b.all - a.all,
  ) as [Use];
  const known = uses.reduce((sum, { right }) => addSafely(sum, right), 0);
  return { ...home, known: Math.max(known, home.all) };
}

const toKey = ({ domain, selector }: Signature) => `${domain} ${selector ?? ''}`;

function addUses(uses: Uses, party: Party, { ownSignatures, spf }: Facts, messages: number): void {
  for (const signature of ownSignatures) {
    const key = toKey(signature);
    const parties = uses.get(key) ?? new Map<string, Use>();
    uses.set(key, parties);
    const use = parties.get(party.key) ?? { key: party.key, all: 0, right: 0, valid: 0 };
    parties.set(party.key, use);
    const isRight = spf.isAligned || sendsForOthers(party);
    use.all = addSafely(use.all, messages);
    use.right = addSafely(use.right, isRight ? messages : 0);
    use.valid = addSafely(use.valid, signature.result === 'pass' ? messages : 0);
  }
}
