import { isIPv4 } from 'node:net';
import { type InParts, mapInParts } from '../in-parts.ts';
import { remember } from '../remember.ts';
import { type SeenMail, toFacts } from '../sources/evidence.ts';
import { findLook, type Look, type LookContext, toTally } from './looks.ts';
import { createPartyFinder, isPrivate, type Party } from './party.ts';
import type { JudgeContext, SentMail } from './sender.ts';
import { findHomes } from './signature-homes.ts';
import type { Known } from './verdict-rules.ts';

/** An address with what is known of it by its mail. */
export interface Place extends Known {
  readonly mail: SentMail;
  /** The smallest network that is given to one site: /24 of IPv4, /48 of IPv6. */
  readonly site: string;
  readonly canPassOn: boolean;
}

export interface Places extends LookContext {
  readonly places: readonly Place[];
  readonly lookOf: (seen: SeenMail, place: Place) => Look;
}

export function* findPlaces(all: readonly SentMail[], context: JudgeContext): InParts<Places> {
  const { domain, toOrganizationalDomain } = context;
  const factsOf = remember((seen: SeenMail) => toFacts(seen, context));
  const findParty = createPartyFinder(context, factsOf);
  const own = toOrganizationalDomain(domain);
  const isOwn = (name: string) =>
    (name.endsWith(own) && toOrganizationalDomain(name) === own) || context.isSister(name);
  const located = yield* mapInParts(all, (mail) => {
    const { address, name } = mail;
    const ownName = name !== undefined && isOwn(name) ? name : undefined;
    return { mail, party: findParty(mail), site: toSite(address), ownName };
  });
  const homes = findHomes(located, factsOf);
  const servers = located.filter(({ mail, party }) => mail.spfAligned > 0 && hasServers(party));
  const sites = new Set(servers.map(({ site }) => site));
  const places = yield* mapInParts(located, (one): Place => {
    const { mail, party, site, ownName } = one;
    const isNear = sites.has(site) && hasServers(party);
    const canPassOn = ownName === undefined && !(isNear && party.kind === 'network');
    const tally = toTally({ ...one, canPassOn }, { factsOf, homes });
    const isInside = party.kind === 'address' && isPrivate(mail.address);
    const counts = mail;
    return { ...one, domain, counts, tally, canPassOn, isPrivate: isInside, isNear };
  });
  const lookOf = (seen: SeenMail, place: Place) => findLook(factsOf(seen), place, homes);
  return { places, factsOf, homes, lookOf };
}

/** Whether servers of one owner are beside each other. Other services share their addresses among all customers. */
export function hasServers({ kind, service }: Party): boolean {
  return service === undefined ? kind !== 'domain' : service.kind === 'hosting';
}

/** The address is canonical. */
export function toSite(address: string): string {
  if (isIPv4(address)) return address.slice(0, address.lastIndexOf('.'));
  const [groups = ''] = address.split('::', 1);
  return [...groups.split(':'), '0', '0'].slice(0, 3).join(':');
}

export const toSiteName = (site: string): string =>
  site.includes(':') ? `${site}::/48` : `${site}.0/24`;
