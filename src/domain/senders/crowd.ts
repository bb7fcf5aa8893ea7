import { formatCount } from '../text.ts';
import { hasServers, type Place } from './place.ts';
import { isOwn } from './verdict-rules.ts';

/** Fewer addresses, or networks, are parties that can be asked, and no botnet. */
const MANY = { addresses: 10, networks: 5 };
/** How many messages of an address are few in some 30 days, at least and at most. */
const FEW = { least: 10, most: 150 };
/** So many that are alike are a crowd whatever each sends, and so many domains are, of which each has few hosts. */
const CROWD = { addresses: 50, domains: 20, hosts: 3, times: 15 };

interface CrowdMarks {
  /** Whether people have marked scattered addresses. */
  readonly isKnown: boolean;
  /** Whether they have marked a party, whose addresses are then its own. */
  readonly isMarked: (key: string) => boolean;
}

/** Scattered addresses. */
export interface Crowd {
  readonly members: ReadonlySet<Place>;
  /** Whether there are so many that they are likely one botnet. */
  readonly isLarge: boolean;
}

/**
 * Addresses of which nothing tells whose they are, with few messages each. That is at most ten times what is usual among
 * them, since a scanner sends every day; and no more than there are addresses, since a company can have a dozen forms. In a
 * few networks there is no crowd, unless there was one that `isKnown`. Machines at hosts join a large one; by themselves they may
 * be the owner's.
 */
export function findCrowd(all: readonly Place[], { isKnown, isMarked }: CrowdMarks): Crowd {
  const places = all.filter(({ party }) => !isMarked(party.key));
  const [atHosts, unknown] = [true, false].map((isAtHost) =>
    places.filter((place) => isStranger(place) && isAtHost === (place.party.service !== undefined)),
  ) as [Place[], Place[]];
  const themselves = listThemselves(places);
  const strangers = [...unknown, ...themselves];
  const counts = strangers.map(({ mail }) => mail.messages).sort((a, b) => a - b);
  const usual = counts[counts.length >> 1] ?? 0;
  const isCrowd = counts.length >= CROWD.addresses || themselves.length >= CROWD.domains;
  const most = isCrowd ? CROWD.times * counts.length : Math.min(counts.length, FEW.most);
  const isFew = ({ mail }: Place) =>
    mail.messages <= Math.max(FEW.least, Math.min(10 * usual, most));
  const few = strangers.filter(isFew);
  const isSpread = new Set(few.map(toNetwork)).size >= MANY.networks;
  const isLarge = isSpread && few.length >= MANY.addresses;
  const members = isSpread || isKnown ? few : [];
  return { members: new Set(isLarge ? [...members, ...atHosts.filter(isFew)] : members), isLarge };
}

/**
 * Hosts that are authenticated as themselves, each as another domain: that says nothing of the owner. Some are senders that
 * can be asked one by one; so many are not.
 */
function listThemselves(places: readonly Place[]): readonly Place[] {
  const ofDomains = places.filter(({ party }) => party.kind === 'domain' && !party.isSister);
  const domains = [...Map.groupBy(ofDomains, ({ party }) => party.key).values()];
  const alone = domains.filter(({ length }) => length <= CROWD.hosts);
  const found = alone.flat().filter((place) => !isKnown(place));
  const isMany = alone.length >= CROWD.domains;
  return isMany && new Set(found.map(toNetwork)).size >= MANY.networks ? found : [];
}

/** The site of an address whose network is not known. */
const toNetwork = ({ mail, site }: Place) => mail.network?.asn ?? site;

/** Any host's name is that of a machine of anybody. */
function isStranger(place: Place): boolean {
  return hasServers(place.party) && place.tally.foreign === 0 && !isKnown(place);
}

/** Whether something tells whose it is, or that it passes mail on. */
function isKnown({ ownName, isPrivate, isNear, tally }: Place): boolean {
  if (ownName !== undefined || isPrivate || isNear) return true;
  return isOwn(tally) || tally.carried + tally.said > 0;
}

export function toCrowdTitle({ members, isLarge }: Crowd): string {
  return `${formatCount(members.size)} scattered addresses${isLarge ? ', likely one botnet' : ''}`;
}
