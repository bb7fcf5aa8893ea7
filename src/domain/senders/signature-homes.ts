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

export interface Homes {
  /** Whether a party passes messages on. */
  readonly passesOn: (facts: Facts, party: Party) => boolean;
  /** Whether signatures of the same key of the same party have verified. */
  readonly isUsed: (signature: Signature, party: Party) => boolean;
}

/**
 * Tells whether somebody passes a party's messages on, as far as signatures of the domain show: by selector, they are made
 * where most of them are sent by right, or else are valid. Elsewhere they are intact, or broken on the way; broken by a party
 * of which nothing arrives intact, they may as well be copied.
 */
export function findHomes(all: readonly MailOfParty[], factsOf: (seen: SeenMail) => Facts): Homes {
  const uses: Uses = new Map();
  const carried = new Map<string, { broken: number; shown: number }>();
  for (const { party, mail } of all)
    for (const { seen, messages } of mail.results) {
      const facts = factsOf(seen);
      addUses(uses, party, facts, messages);
      const sum = carried.get(party.key) ?? { broken: 0, shown: 0 };
      carried.set(party.key, sum);
      const isShown = facts.isForwarded || facts.ownSignatures.some(isIntact);
      if (isShown) sum.shown = addSafely(sum.shown, messages);
      else if (facts.ownSignatures.length > 0) sum.broken = addSafely(sum.broken, messages);
    }
  /** A few messages that arrive intact, or of which one receiver says so, show nothing of hundreds that do not. */
  const carries = (party: Party) => {
    const { broken, shown } = carried.get(party.key) ?? { broken: 0, shown: 0 };
    return isCarrier(party) || (shown > 0 && 10 * shown >= broken);
  };
  const isProven = (signature: Signature) => homeOf(toKey(signature)).isValid;
  const homeOf = remember((key: string) => toHome([...(uses.get(key)?.values() ?? [])]));
  const passesOn: Homes['passesOn'] = (facts, party) => {
    const signatures = listSignatures(facts);
    const isAwayWith = (signature: Signature) => {
      const isClaim = !carries(party) || !isProven(signature);
      if (signature.result !== 'pass' && isClaim) return false;
      const key = toKey(signature);
      const here = uses.get(key)?.get(party.key)?.all ?? 0;
      return isAway({ facts, party, here, home: homeOf(key) });
    };
    return signatures.length > 0 && signatures.every(isAwayWith);
  };
  const isUsed: Homes['isUsed'] = (signature, party) =>
    (uses.get(toKey(signature))?.get(party.key)?.valid ?? 0) > 0;
  return { passesOn, isUsed };
}

const TENANT = /\.(?:onmicrosoft|gappssmtp)\.com$/;

/** Of mail that is not signed as the domain, those that the owner's provider makes with its own name for a customer. */
function listSignatures({ ownSignatures, dkim }: Facts): readonly Signature[] {
  if (ownSignatures.length > 0) return ownSignatures;
  return dkim.filter((one) => isIntact(one) && TENANT.test(one.domain ?? ''));
}

const isIntact = ({ result }: Signature) => result === 'pass';

/** Services at which mail arrives that was sent elsewhere. */
const CARRIERS: readonly (string | undefined)[] = ['mailbox', 'forwarder', 'security', 'software'];

const isCarrier = ({ service }: Party) => CARRIERS.includes(service?.kind);

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

const NOWHERE: Use = { key: '', all: 0, right: 0, valid: 0 };

/**
 * The home, how many messages are known to be sent by right, there and elsewhere, and whether any verified. A signature of days
 * before those that tell where signatures are at home has none.
 */
function toHome(uses: readonly Use[]): Use & { readonly known: number; readonly isValid: boolean } {
  const [home = NOWHERE] = uses.toSorted(
    (a, b) => b.right - a.right || b.valid - a.valid || b.all - a.all,
  );
  const known = uses.reduce((sum, { right }) => addSafely(sum, right), 0);
  const isValid = uses.some(({ valid }) => valid > 0);
  return { ...home, known: Math.max(known, home.all), isValid };
}

const toKey = ({ domain, selector }: Signature) => `${domain} ${selector ?? ''}`;

function addUses(uses: Uses, party: Party, facts: Facts, messages: number): void {
  for (const signature of listSignatures(facts)) {
    const key = toKey(signature);
    const parties = uses.get(key) ?? new Map<string, Use>();
    uses.set(key, parties);
    const use = parties.get(party.key) ?? { key: party.key, all: 0, right: 0, valid: 0 };
    parties.set(party.key, use);
    const isRight = facts.spf.isAligned || sendsForOthers(party);
    use.all = addSafely(use.all, messages);
    use.right = addSafely(use.right, isRight ? messages : 0);
    use.valid = addSafely(use.valid, signature.result === 'pass' ? messages : 0);
  }
}
