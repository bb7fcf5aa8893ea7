import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import { addCounts, NO_COUNTS } from '../sources/day-sources.ts';
import type { Signature } from '../sources/evidence.ts';
import { type Crowd, findCrowd, toCrowdTitle } from './crowd.ts';
import { findInvalid, sumTallies } from './looks.ts';
import { type Party, sendsForOthers } from './party.ts';
import { findPlaces, hasServers, type Place, type Places } from './place.ts';
import type { JudgeContext, JudgedSenders, Sender, SentMail, Verdict } from './sender.ts';
import { findVerdict, isOwn, judge } from './verdict-rules.ts';

/*
 * Who sent mail in a domain's name. Every address is a party's: a service's, another domain's, a network's, or its own.
 * Where a party has many customers, addresses that are alike are a sender of their own. The verdict is found once for each
 * sender, so that one name has one verdict.
 */

/** All mail of a domain is judged together, of some 30 days: that shows where a signature is at home. */
export function judgeSenders(all: readonly SentMail[], context: JudgeContext): JudgedSenders {
  const { places, factsOf } = findPlaces(all, context);
  const { findMark } = context;
  const isMarked = remember((key: string) =>
    Object.values(PARTS).some((part) => findMark(key + part) !== undefined),
  );
  const crowd = findCrowd(places, { isKnown: findMark(SCATTERED) !== undefined, isMarked });
  const groups = Map.groupBy(places, (place) => toKey(place, crowd, context));
  const judged = [...groups].map(([key, members]) =>
    toSender({ key, members }, { ...context, factsOf, crowd }),
  );
  const senders = addTitles(judged.sort((a, b) => b.messages - a.messages));
  const byKey = new Map(senders.map((sender) => [sender.key, sender]));
  const byAddress = new Map<string, Sender | undefined>();
  for (const [key, members] of groups)
    for (const { mail } of members) byAddress.set(mail.address, byKey.get(key));
  return { senders, of: (address) => byAddress.get(address) };
}

const SCATTERED = 'scattered';

/** What is added to the key of a party that has many customers, by the verdict on an address, and what to the title. */
const PARTS: Readonly<Record<Verdict, string>> = {
  yours: '',
  passed_on: ' passes on',
  needs_setup: ' to set up',
  not_recognised: ' others',
  forged: ' others',
};
const SUFFIXES: Readonly<Record<string, string>> = {
  [PARTS.passed_on]: ', forwarding',
  [PARTS.needs_setup]: ', to set up',
  [PARTS.not_recognised]: ', others',
};

/** An address that people marked is a sender of its own. */
function toKey(place: Place, crowd: Crowd, context: JudgeContext): string {
  const { mail, party, tally } = place;
  if (context.findMark(mail.address) !== undefined) return mail.address;
  if (crowd.members.has(place)) return SCATTERED;
  const { kind, service } = party;
  if (kind !== 'network' && (service === undefined || sendsForOthers(party))) return party.key;
  const verdict = findVerdict(place);
  // What is set up at a service with mailboxes holds for all of its addresses.
  const isOne = !hasServers(party) && verdict === 'needs_setup' && isOwn(tally);
  return party.key + PARTS[isOne ? 'yours' : verdict];
}

interface Group {
  readonly key: string;
  readonly members: readonly Place[];
}

interface SenderContext extends JudgeContext, Pick<Places, 'factsOf'> {
  readonly crowd: Crowd;
}

/** Has the title of its party. */
type Untitled = Sender & { readonly party: Party };

function toSender({ key, members }: Group, context: SenderContext): Untitled {
  const [{ mail: first }] = members as [Place];
  const days = { firstDay: first.firstDay, lastDay: first.lastDay };
  const counts = { ...NO_COUNTS };
  for (const { mail } of members) {
    addCounts(counts, mail);
    if (mail.firstDay < days.firstDay) days.firstDay = mail.firstDay;
    if (mail.lastDay > days.lastDay) days.lastDay = mail.lastDay;
  }
  const party = findStrongest(members);
  const tally = sumTallies(members.map((one) => one.tally));
  const broken = tally.invalid > 0 ? findBroken(members, context.factsOf) : undefined;
  const mark = context.findMark(key);
  const isScattered = key === SCATTERED;
  const crowd = isScattered ? context.crowd : undefined;
  const judged = judge({
    ...{ domain: context.domain, party, counts, mark, broken, tally, crowd },
    ownName: members.find(({ ownName }) => ownName !== undefined)?.ownName,
    isPrivate: members.some((one) => one.isPrivate),
    isNear: members.every((one) => one.isNear),
  });
  return {
    ...{ key, title: crowd ? toCrowdTitle(crowd) : party.title, party, service: party.service },
    ...{ ...judged, mark, isScattered, broken, ...counts, sources: members.length, ...days },
  };
}

const STRENGTH = ['dkim', 'spf', 'dns', undefined];

function findStrongest(members: readonly Place[]): Party {
  const rank = ({ party }: Place) => STRENGTH.indexOf(party.service?.by);
  return members.reduce((best, one) => (rank(one) < rank(best) ? one : best)).party;
}

/** No two senders have the same title. */
function addTitles(untitled: readonly Untitled[]): readonly Sender[] {
  const parts = Map.groupBy(untitled, ({ party }) => party.key);
  const taken = new Set<string>();
  return untitled.map(({ party, ...sender }) => {
    const { key, isScattered } = sender;
    const isMarked = !(isScattered || key.startsWith(party.key));
    const isOnly = parts.get(party.key)?.length === 1 && !key.endsWith(PARTS.passed_on);
    const suffix = (isOnly ? undefined : SUFFIXES[key.slice(party.key.length)]) ?? '';
    const name = isMarked ? key : sender.title + suffix;
    const title = taken.has(name) ? `${name} (${party.kind})` : name;
    taken.add(title);
    return { ...sender, title };
  });
}

function findBroken(members: readonly Place[], factsOf: Places['factsOf']): Signature | undefined {
  const all = new Map<string, { readonly signature: Signature; messages: number }>();
  for (const { mail } of members)
    for (const { seen, messages } of mail.results) {
      const signature = findInvalid(factsOf(seen));
      if (signature === undefined) continue;
      const key = `${signature.domain} ${signature.selector}`;
      const sum = all.get(key) ?? { signature, messages: 0 };
      sum.messages = addSafely(sum.messages, messages);
      all.set(key, sum);
    }
  const [most] = [...all.values()].sort((a, b) => b.messages - a.messages);
  return most?.signature;
}
