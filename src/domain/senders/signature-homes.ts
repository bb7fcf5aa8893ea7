import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import type { Facts, SeenMail, Sighting, Signature } from '../sources/evidence.ts';
import { type Party, sendsForOthers } from './party.ts';

export interface MailOfParty {
  readonly party: Party;
  readonly mail: { readonly results: readonly Sighting[] };
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

/** Whether a party passes messages on. */
export type PassesOn = (facts: Facts, party: Party) => boolean;

/**
 * Tells whether somebody passes a party's messages on, as far as signatures of the domain show: by selector, they are made
 * where most of them are sent by right, or else are valid. Elsewhere they are intact, or broken on the way.
 */
export function findHomes(
  all: readonly MailOfParty[],
  factsOf: (seen: SeenMail) => Facts,
): PassesOn {
  const uses: Uses = new Map();
  for (const { party, mail } of all)
    for (const { seen, messages } of mail.results) addUses(uses, party, factsOf(seen), messages);
  const homeOf = remember((key: string) => toHome([...(uses.get(key)?.values() ?? [])]));
  return (facts, party) => {
    const { ownSignatures } = facts;
    const isAwayWith = (signature: Signature) => {
      const key = toKey(signature);
      const here = uses.get(key)?.get(party.key)?.all ?? 0;
      return isAway({ facts, party, here, home: homeOf(key) });
    };
    return ownSignatures.length > 0 && ownSignatures.every(isAwayWith);
  };
}

interface Away {
  readonly facts: Facts;
  readonly party: Party;
  /** How many messages of the party have the signature. */
  readonly here: number;
  readonly home: ReturnType<typeof toHome>;
}

function isAway({ facts, party, here, home }: Away): boolean {
  const isForeign = facts.foreignSpf !== undefined;
  const isKeyRight = 2 * home.valid > home.all;
  // Software, such as a helpdesk, gets mail. Other services that send for others pass nothing on.
  const isGiven = !facts.isDkimAligned && isKeyRight && party.service?.kind === 'software';
  if (sendsForOthers(party) && !isGiven) return false;
  // Customers of one network, or of one service with mailboxes, pass on what others of them send.
  if (home.key === party.key) return !isOneSender(party) && isAwayAtHome(home, isForeign);
  // SPF of somebody else shows that it is no server of the owner's, when the key is right.
  const isElsewhere = isForeign && (facts.isDkimAligned || isKeyRight);
  return isElsewhere || isRare(here, home.known);
}

const isOneSender = (party: Party) => party.kind === 'domain' || sendsForOthers(party);

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
