import { type InParts, mapInParts } from '../in-parts.ts';
import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import { addCounts, NO_COUNTS } from '../sources/day-sources.ts';
import type { SeenMail, Signature } from '../sources/evidence.ts';
import { formatCount } from '../text.ts';
import { type Crowd, findCrowd, toCrowdTitle } from './crowd.ts';
import { findInvalid, type Look, type LookContext, sumTallies } from './looks.ts';
import { type Party, sendsForOthers } from './party.ts';
import { findPlaces, hasServers, type Place, toSiteName } from './place.ts';
import type { JudgeContext, Sender, SentMail, Verdict } from './sender.ts';
import { findVerdict, isOwn, judge } from './verdict-rules.ts';

/*
 * Who sent mail in a domain's name. Every address is a party's: a service's, another domain's, a network's, or its own.
 * Where a party has many customers, addresses that are alike are a sender of their own. The verdict is found once for each
 * sender, so that one name has one verdict.
 */

export interface JudgedSenders {
  /** The sender of an address, undefined for an address that was not judged. */
  readonly of: (address: string) => Sender | undefined;
  readonly lookOf: (seen: SeenMail, address: string) => Look | undefined;
}

/** All mail of a domain is judged together, of some 30 days: that shows where a signature is at home. */
export function* judgeSenders(
  all: readonly SentMail[],
  context: JudgeContext,
): InParts<JudgedSenders> {
  const { places, lookOf, ...looks } = yield* findPlaces(all, context);
  const { findMark } = context;
  const isMarked = remember((key: string) =>
    Object.values(PARTS).some((part) => findMark(key + part) !== undefined),
  );
  const crowd = findCrowd(places, { isKnown: findMark(SCATTERED) !== undefined, isMarked });
  const keyOf = (place: Place) => toKey(place, crowd, context);
  const groups = joinNeighbours(Map.groupBy(places, keyOf), context);
  const judged = yield* mapInParts(groups, ([key, members]) =>
    toSender({ key, members }, { ...context, ...looks, crowd }),
  );
  const senders = addTitles(judged.sort((a, b) => b.messages - a.messages));
  const byKey = new Map(senders.map((sender) => [sender.key, sender]));
  const byAddress = new Map<string, Sender | undefined>();
  for (const [key, members] of groups)
    for (const { mail } of members) byAddress.set(mail.address, byKey.get(key));
  const placeOf = new Map(places.map((place) => [place.mail.address, place]));
  return {
    of: (address) => byAddress.get(address),
    lookOf: (seen, address) => {
      const place = placeOf.get(address);
      return place && lookOf(seen, place);
    },
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
  const verdict = findVerdict(place);
  // What is set up at a service with mailboxes holds for all of its addresses.
  const isOne = !hasServers(party) && verdict === 'needs_setup' && isOwn(tally);
  return party.key + PARTS[isOne ? 'yours' : verdict];
}

/** So many strangers in one site are one question. */
const NEIGHBOURS = 10;

/** Strangers of one site that have nothing else in common are one sender, which is called by its network. */
function joinNeighbours(
  groups: ReadonlyMap<string, readonly Place[]>,
  { findMark }: JudgeContext,
): ReadonlyMap<string, readonly Place[]> {
  const isAlone = (key: string, [first, ...others]: readonly Place[]) =>
    first !== undefined &&
    others.every(({ site }) => site === first.site) &&
    ['address', 'domain'].includes(first.party.kind) &&
    findMark(key) === undefined &&
    [first, ...others].every((one) => findVerdict(one) === 'not_recognised');
  const alone = [...groups].filter(([key, members]) => isAlone(key, members));
  const sites = Map.groupBy(alone, ([, [place]]) => place?.site ?? '');
  const joined = new Map(groups);
  for (const [site, some] of sites) {
    if (some.length < NEIGHBOURS) continue;
    for (const [key] of some) joined.delete(key);
    joined.set(
      `network ${toSiteName(site)}`,
      some.flatMap(([, members]) => members),
    );
  }
  return joined;
}

interface Group {
  readonly key: string;
  readonly members: readonly Place[];
}

interface SenderContext extends JudgeContext, LookContext {
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
  const broken = tally.invalid > 0 ? findBroken(members, context) : undefined;
  const mark = context.findMark(key);
  const isScattered = key === SCATTERED;
  const crowd = isScattered ? context.crowd : undefined;
  const judged = judge({
    ...{ domain: context.domain, party, counts, mark, broken, tally, crowd },
    isClaimed: isClaimed(members, context),
    ownName: members.find(({ ownName }) => ownName !== undefined)?.ownName,
    isPrivate: members.some((one) => one.isPrivate),
    isNear: members.every((one) => one.isNear),
  });
  return {
    ...{
      key,
      title: toTitle({ key, members }, party, crowd),
      party,
      service: party.service ?? party.via,
    },
    ...{ ...judged, mark, isScattered, broken, ...counts, sources: members.length, ...days },
  };
}

function toTitle({ key, members }: Group, party: Party, crowd: Crowd | undefined): string {
  if (crowd !== undefined) return toCrowdTitle(crowd);
  const isNetwork = key !== party.key && party.kind !== 'network' && key.startsWith('network ');
  if (isNetwork)
    return `${formatCount(members.length)} addresses in ${key.slice('network '.length)}`;
  if (party.person !== undefined && key.endsWith(PARTS.not_recognised))
    return `People at ${party.person}`;
  return party.title;
}

/** Whether most messages have a signature as the domain, of which none verifies. */
function isClaimed(members: readonly Place[], { factsOf }: LookContext): boolean {
  const sums = { signed: 0, all: 0 };
  for (const { mail } of members)
    for (const { seen, messages } of mail.results) {
      const { ownSignatures } = factsOf(seen);
      sums.all = addSafely(sums.all, messages);
      if (ownSignatures.length > 0) sums.signed = addSafely(sums.signed, messages);
    }
  return 2 * sums.signed > sums.all;
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
    const isMarked = !(isScattered || key.startsWith(party.key) || key.startsWith('network '));
    const isOnly = parts.get(party.key)?.length === 1 && !key.endsWith(PARTS.passed_on);
    const isPeople = sender.title.startsWith('People at ');
    const suffix = (isOnly || isPeople ? undefined : SUFFIXES[key.slice(party.key.length)]) ?? '';
    const name = isMarked ? key : sender.title + suffix;
    const title = taken.has(name) ? `${name} (${party.kind})` : name;
    taken.add(title);
    return { ...sender, title };
  });
}

function findBroken(
  members: readonly Place[],
  { factsOf, homes }: LookContext,
): Signature | undefined {
  const all = new Map<string, { readonly signature: Signature; messages: number }>();
  for (const place of members)
    for (const { seen, messages } of place.mail.results) {
      const signature = findInvalid(factsOf(seen), place, homes);
      if (signature === undefined) continue;
      const key = `${signature.domain} ${signature.selector}`;
      const sum = all.get(key) ?? { signature, messages: 0 };
      sum.messages = addSafely(sum.messages, messages);
      all.set(key, sum);
    }
  const [most] = [...all.values()].sort((a, b) => b.messages - a.messages);
  return most?.signature;
}
