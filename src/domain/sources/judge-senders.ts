import { addSafely } from '../safe-sum.ts';
import { type Crowd, findCrowd, toCrowdTitle } from './crowd.ts';
import { addCounts } from './day-sources.ts';
import type { Signature } from './evidence.ts';
import { findInvalid, sumTallies } from './looks.ts';
import { type Party, sendsForOthers } from './party.ts';
import { findPlaces, hasServers, type Place, type Places } from './place.ts';
import type { JudgeContext, JudgedSenders, Sender, SentMail, Verdict } from './sender.ts';
import type { SourceCounts } from './source.ts';
import { findVerdict, isOwn, judge } from './verdict-rules.ts';

/*
 * Who sent mail in a domain's name. Every address is a party's: a service's, another domain's, a network's, or its own.
 * Where a party has many customers, addresses that are alike are a sender of their own. The verdict is found once for each
 * sender, so that one name has one verdict.
 */

/** All mail of a domain is judged together, of some 30 days: that shows where a signature is at home. */
export function judgeSenders(all: readonly SentMail[], context: JudgeContext): JudgedSenders {
  const { places, factsOf } = findPlaces(all, context);
  const crowd = findCrowd(places, context.findMark(SCATTERED) !== undefined);
  const groups = Map.groupBy(places, (place) => toKey(place, crowd, context));
  const sorted = [...groups]
    .map(([key, members]) => toGroup(key, members))
    .sort((a, b) => b.counts.messages - a.counts.messages);
  const toTitle = createTitles(sorted, crowd);
  const senders = new Map(
    sorted.map((group) => [group.key, toSender(group, { ...context, factsOf, toTitle, crowd })]),
  );
  const keys = new Map<string, string>();
  for (const [key, members] of groups) for (const { mail } of members) keys.set(mail.address, key);
  return {
    senders: [...senders.values()],
    of: (address) => senders.get(keys.get(address) ?? ''),
  };
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
  const verdict = findVerdict({ ...place, counts: mail, domain: context.domain });
  // What is set up at a service with mailboxes holds for all of its addresses.
  const isOne = !hasServers(party) && verdict === 'needs_setup' && isOwn(tally);
  return party.key + PARTS[isOne ? 'yours' : verdict];
}

interface Group {
  readonly key: string;
  readonly members: readonly Place[];
  readonly party: Party;
  readonly counts: SourceCounts;
}

const STRENGTH = ['dkim', 'spf', 'dns', undefined];

function toGroup(key: string, members: readonly Place[]): Group {
  const counts = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };
  for (const { mail } of members) addCounts(counts, mail);
  const rank = (party: Party) => STRENGTH.indexOf(party.service?.by);
  const [first] = members as [Place];
  const party = members.reduce(
    (best, one) => (rank(one.party) < rank(best) ? one.party : best),
    first.party,
  );
  return { key, members, party, counts };
}

/** No two senders have the same title. */
function createTitles(groups: readonly Group[], crowd: Crowd): (group: Group) => string {
  const parts = Map.groupBy(groups, ({ party }) => party.key);
  const taken = new Set<string>();
  return ({ key, party }) => {
    if (key === SCATTERED) return toCrowdTitle(crowd);
    const suffix = SUFFIXES[key.slice(party.key.length)] ?? '';
    const isOnly = parts.get(party.key)?.length === 1 && !key.endsWith(PARTS.passed_on);
    const title = key.startsWith(party.key) ? party.title + (isOnly ? '' : suffix) : key;
    const unique = taken.has(title) ? `${title} (${party.kind})` : title;
    taken.add(unique);
    return unique;
  };
}

interface SenderContext extends JudgeContext, Pick<Places, 'factsOf'> {
  readonly crowd: Crowd;
  readonly toTitle: (group: Group) => string;
}

function toSender(group: Group, { crowd, toTitle, factsOf, ...context }: SenderContext): Sender {
  const { key, members, party, counts } = group;
  const mark = context.findMark(key);
  const tally = sumTallies(members.map((one) => one.tally));
  const broken = tally.invalid > 0 ? findBroken(members, factsOf) : undefined;
  const isScattered = key === SCATTERED;
  const judged = judge({
    ...{ domain: context.domain, party, counts, mark, broken, tally },
    crowd: isScattered ? crowd : undefined,
    ownName: members.find(({ ownName }) => ownName !== undefined)?.ownName,
    isPrivate: members.some((one) => one.isPrivate),
    isNear: members.every((one) => one.isNear),
  });
  const days = members.map(({ mail }) => mail);
  return {
    ...{ key, title: toTitle(group), service: party.service, mark, isScattered, broken },
    ...judged,
    ...counts,
    sources: members.length,
    firstDay: days.reduce((a, b) => (b.firstDay < a.firstDay ? b : a)).firstDay,
    lastDay: days.reduce((a, b) => (b.lastDay > a.lastDay ? b : a)).lastDay,
  };
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
