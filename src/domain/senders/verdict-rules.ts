import { failedOf } from '../pass-rate.ts';
import { type Phrase, phrase } from '../sources/phrase.ts';
import { tellSelector } from '../sources/record-problem.ts';
import type { SourceCounts } from '../sources/source.ts';
import { formatCount, pluralize } from '../text.ts';
import type { Tally } from './looks.ts';
import { type Party, sendsForOthers } from './party.ts';
import type { ReasonCode, Sender, Verdict } from './sender.ts';

/** What is known of a sender, or of an address, when it is judged. */
export interface Known {
  readonly domain: string;
  readonly party: Party;
  readonly tally: Tally;
  readonly counts: SourceCounts;
  readonly mark?: Sender['mark'];
  /** A name in DNS, which leads back to an address, if it is the owner's. */
  readonly ownName: string | undefined;
  readonly isPrivate: boolean;
  /** Whether a server of the owner's is in its site: in the same /24 of IPv4, or /48 of IPv6. */
  readonly isNear: boolean;
  /** Set for scattered addresses. */
  readonly crowd?: { readonly isLarge: boolean } | undefined;
  readonly broken?: Sender['broken'];
  /** Most of its messages have a signature as the domain, of which none verifies. */
  readonly isClaimed?: boolean;
}

type Rule = readonly [verdict: Verdict, code: ReasonCode, applies: (known: Known) => boolean];

/** The first rule that applies gives the verdict. The last one always does. */
const RULES: readonly Rule[] = [
  // What people said decides.
  ['forged', 'marked', ({ mark }) => mark === 'unknown'],
  ['needs_setup', 'marked', ({ mark, counts }) => mark === 'legitimate' && isFailing(counts)],
  ['yours', 'marked', ({ mark }) => mark === 'legitimate'],
  // Scattered addresses.
  ['forged', 'scattered', ({ crowd, tally }) => crowd?.isLarge === true && isRefused(tally)],
  ['not_recognised', 'scattered', ({ crowd }) => crowd !== undefined],
  // A service that sends for others passes nothing on: its key is wrong.
  ['needs_setup', 'signature_broken', hasWrongKey],
  // Mail that somebody passes on.
  ['passed_on', 'listed_forwarder', isForwarder],
  ['passed_on', 'receiver_says_forwarded', ({ tally }) => isPassedOn(tally) && isSaid(tally)],
  ['passed_on', 'signature_carried', ({ tally }) => isPassedOn(tally) && tally.carried > 0],
  // Senders of the owner's, by what passes or by their name.
  ['needs_setup', 'signature_broken', ({ tally }) => isKnown(tally) && isOftenBroken(tally)],
  ['needs_setup', 'alignment_strict', ({ tally }) => isStrict(tally) && isMendable(tally)],
  ['needs_setup', 'partly_fails', ({ tally }) => tally.passes > 0 && isMendable(tally)],
  ['needs_setup', 'pass_not_counted', ({ tally }) => tally.uncounted > 0 && isMendable(tally)],
  ['yours', 'pass_not_counted', ({ tally }) => tally.uncounted > tally.passes],
  ['yours', 'passes', ({ tally }) => isOwn(tally)],
  ['needs_setup', 'name_is_own', ({ ownName }) => ownName !== undefined],
  // Strangers do not send from inside of a network, though a receiver's own relay is there.
  ['needs_setup', 'private_address', isInside],
  ['not_recognised', 'free_mail', ({ party }) => party.person !== undefined],
  ['needs_setup', 'service_as_itself', isServiceAsItself],
  ['needs_setup', 'signed_as_sister', ({ party }) => party.isSister === true],
  // Nobody is accused for not being known.
  ['not_recognised', 'private_address', (known) => known.isPrivate],
  ['not_recognised', 'own_network', (known) => known.isNear],
  ['not_recognised', 'other_customer', ({ party }) => party.via !== undefined],
  ['not_recognised', 'unlisted_domain', ({ party }) => party.kind === 'domain'],
  ['not_recognised', 'signature_claimed', ({ isClaimed }) => isClaimed === true],
  ['not_recognised', 'spf_refuses', ({ tally }) => isRefused(tally)],
  ['not_recognised', 'nothing_authenticates', () => true],
];

const REASONS: Readonly<Record<ReasonCode, (known: Known) => Phrase>> = {
  marked: ({ mark }) => [`You said that it is ${mark === 'unknown' ? 'not ' : ''}yours.`],
  scattered: ({ domain, counts, tally }) => [
    `Addresses of many networks sent ${pluralize(counts.messages, 'message')}, of which none is authenticated as `,
    ...phrase`${domain}`,
    isRefused(tally) ? ', and SPF forbids them.' : '.',
  ],
  signature_broken: ({ domain, broken }) => [
    ...phrase`Its messages are signed as ${broken?.domain ?? domain}`,
    ...tellSelector(broken),
    ', and the signature does not verify.',
  ],
  listed_forwarder: ({ party }) => phrase`${party.title} forwards mail.`,
  receiver_says_forwarded: () => ['Receivers say that its messages were forwarded.'],
  signature_carried: ({ domain }) =>
    phrase`Its messages were signed as ${domain} by another sender, and came by way of this one.`,
  alignment_strict: ({ domain }) =>
    phrase`Its messages pass for another name of the organisation than ${domain}, and alignment is strict.`,
  partly_fails: ({ domain, counts }) => [
    `Of its ${pluralize(counts.messages, 'message')} ${formatCount(counts.aligned)} passed for `,
    ...phrase`${domain}, and `,
    `${formatCount(failedOf(counts))} failed.`,
  ],
  pass_not_counted: ({ domain }) =>
    phrase`Its messages pass for ${domain}, though receivers did not count it.`,
  passes: ({ domain }) => phrase`Its messages pass for ${domain}.`,
  name_is_own: ({ ownName = '' }) =>
    phrase`Its name in DNS is ${ownName}, and none of its messages passes.`,
  service_as_itself: ({ party, domain }) =>
    phrase`Its messages are authenticated as ${party.service?.domain ?? ''}, not as ${domain}.`,
  signed_as_sister: ({ party, domain }) =>
    phrase`Its messages are authenticated as ${party.title}, which is yours, too, and not as ${domain}.`,
  other_customer: ({ party, domain }) =>
    phrase`Its messages are of a customer of ${party.via?.name ?? ''}, and authenticated as ${party.key.slice('domain '.length)}, not as ${domain}.`,
  free_mail: ({ party, domain }) =>
    phrase`Somebody with an address at ${party.person ?? ''} writes as ${domain}: a person, who should use your mail server.`,
  signature_claimed: ({ domain }) =>
    phrase`Its messages have a signature as ${domain} that never verifies, which anybody can write or copy: a server of yours that changes what was signed, or somebody else.`,
  private_address: () => [
    'Its address is private: a machine in your network, or a relay in that of the receiver.',
  ],
  own_network: () => ['It is beside a server of yours, and nothing authenticates its messages.'],
  unlisted_domain: ({ party, domain }) =>
    phrase`Its messages are authenticated as ${party.title}, not as ${domain}.`,
  spf_refuses: () => [
    'SPF forbids its messages, and no signature passes: a forgotten system of yours, or somebody else.',
  ],
  nothing_authenticates: () => [
    'Nothing authenticates its messages: a forgotten system of yours, or somebody else.',
  ],
};

export function findVerdict(known: Known): Verdict {
  return (RULES.find(([, , applies]) => applies(known)) as Rule)[0];
}

/** The reasons are all that lead to the verdict. */
export function judge(known: Known): Pick<Sender, 'verdict' | 'reasons' | 'reason'> {
  const verdict = findVerdict(known);
  const rules = RULES.filter(([to, , applies]) => to === verdict && applies(known));
  // The last rule applies to everything: it is a reason where no other is.
  const codes = rules.filter((rule, i) => i === 0 || rule !== RULES.at(-1)).map(([, code]) => code);
  const [code] = codes as [ReasonCode];
  return { verdict, reasons: [...new Set(codes)], reason: REASONS[code](known) };
}

/** Fewer failures are usual: of what is passed on, and by faults of receivers. */
const isTenth = (part: number, all: number) => part > 0 && 10 * part >= all;

const isFailing = (counts: SourceCounts) => isTenth(failedOf(counts), counts.messages);

/** Messages of the owner, by something that passes. */
const ownOf = ({ passes, uncounted, strict }: Tally) => passes + uncounted + strict;

export const isOwn = (tally: Tally) => ownOf(tally) > 0;

/** Other messages, but those that were passed on. */
const strangeOf = ({ foreign, refused, silent }: Tally) => foreign + refused + silent;

/** Whether something passes, of the owner or of somebody else. Anybody can write a signature that does not. */
const isKnown = (tally: Tally) => isOwn(tally) || tally.foreign > 0;

const isBroken = ({ valid, invalid }: Tally) => isTenth(invalid, valid + invalid);

const isOftenBroken = (tally: Tally) =>
  isBroken(tally) && isTenth(tally.invalid, ownOf(tally) + strangeOf(tally));

const isStrict = (tally: Tally) => 2 * tally.strict > ownOf(tally);

/** A tenth fails for a reason that an owner mends. */
function isMendable(tally: Tally): boolean {
  const failing = tally.strict + strangeOf(tally);
  return isTenth(failing, failing + tally.passes + tally.uncounted);
}

const isRefused = (tally: Tally) => 2 * tally.refused > strangeOf(tally) + tally.unanswered;

const isSaid = ({ said, carried }: Tally) => said > carried;

function isPassedOn(tally: Tally): boolean {
  const passedOn = tally.carried + tally.said;
  return passedOn > ownOf(tally) && passedOn > strangeOf(tally) + tally.unanswered;
}

function hasWrongKey({ party, tally }: Known): boolean {
  return sendsForOthers(party) && isBroken(tally);
}

function isForwarder({ party, counts }: Known): boolean {
  return party.service?.kind === 'forwarder' && 2 * counts.spfAligned < counts.messages;
}

/** Fewer messages may be a stranger's, by a relay of one receiver. */
const MIN_INSIDE = 10;

/** A provider's customers share 100.64.0.0/10. */
function isInside({ isPrivate, party, counts }: Known): boolean {
  return isPrivate && !party.key.startsWith('100.') && counts.messages >= MIN_INSIDE;
}

/** A name in DNS alone does not say for whom a service sends. */
function isServiceAsItself({ party: { service }, tally }: Known): boolean {
  const isNamed = service !== undefined && service.by !== 'dns';
  return isNamed && tally.foreign + tally.unanswered > 0;
}
