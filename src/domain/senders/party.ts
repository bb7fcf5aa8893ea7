import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import type { Facts, SeenMail } from '../sources/evidence.ts';
import { toNetworkName } from '../sources/groups.ts';
import type { JudgeContext, SentMail } from './sender.ts';
import type { NamedService } from './service-name.ts';

/** Whose an address is, by the evidence of its mail: a service's, another domain's, a network's, or nobody else's. */
export interface Party {
  readonly kind: 'service' | 'domain' | 'network' | 'address';
  readonly key: string;
  readonly title: string;
  readonly service: NamedService | undefined;
  /** The service by which the domain sends, as one of its customers. */
  readonly via?: NamedService | undefined;
  /** Where people have addresses of their own, which they write from. */
  readonly person?: string;
  /** Another domain of the owner's. */
  readonly isSister?: boolean;
}

/** Whether it is a service that sends for others. The other kinds also pass mail on. */
export function sendsForOthers({ service }: Pick<Party, 'service'>): boolean {
  return ['transactional', 'marketing', 'software'].includes(service?.kind ?? '');
}

const INSIDE_4 =
  /^(?:10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
const INSIDE_6 = /^(?:f[cd][\da-f]{2}|fe[89ab][\da-f]):|^::1$/;

/** Whether a canonical address is used inside of networks only (RFC 1918, 6598, 3927, 1122, 4193, 4291). */
export function isPrivate(address: string): boolean {
  return INSIDE_4.test(address) || INSIDE_6.test(address);
}

/** What the same results claim is found once. */
export function createPartyFinder(
  context: JudgeContext,
  toFacts: (seen: SeenMail) => Facts,
): (mail: SentMail) => Party {
  const toClaim = remember((seen: SeenMail) => findClaim(toFacts(seen), context));
  const toHost = remember((name: string) => context.nameService({ results: [], name }));
  const { domain, toOrganizationalDomain } = context;
  const own = toOrganizationalDomain(domain);
  const isOwn = remember(
    (name: string) => toOrganizationalDomain(name) === own || context.isSister(name),
  );
  return ({ address, name, network, results }) => {
    const claimed = findMost(results, toClaim);
    if (claimed !== undefined) return claimed;
    if (name !== undefined && isOwn(name))
      return { kind: 'address', key: address, title: `${name} (${address})`, service: undefined };
    const host = name === undefined ? undefined : toHost(name);
    if (host !== undefined) return toServiceParty(host);
    return toNetworkParty(address, network);
  };
}

function toNetworkParty(address: string, network: SentMail['network']): Party {
  const { key, title } = toNetworkName(isPrivate(address) ? undefined : network);
  return title === undefined
    ? { kind: 'address', key: address, title: address, service: undefined }
    : { kind: 'network', key: `network ${key}`, title, service: undefined };
}

/** `own`: it is authenticated as the domain, which does not say whose the address is. */
type Claim = Party | 'own' | undefined;

/**
 * A service that sends for others is known by its signature. Customers of other services are known by the domain that SPF
 * passes for, and so is whoever brings a message whose own signature is intact, with the signatures of others.
 */
function findClaim(facts: Facts, context: JudgeContext): Claim {
  const { spf, dkim, isDkimAligned, foreignSpf, foreignSignature } = facts;
  const toParty = (seen: Pick<SeenMail, 'dkim' | 'spf'>, domain?: string | null) => {
    const service = context.nameService({ results: [{ seen, messages: 1 }], name: undefined });
    if (service !== undefined) return toServiceParty(service);
    const title = domain && HOST_NAME.test(domain) && context.toOrganizationalDomain(domain);
    if (!title) return undefined;
    return { ...toDomainParty(title), ...(context.isSister(title) && { isSister: true }) };
  };
  const bringer = foreignSpf && toParty({ dkim: [], spf }, foreignSpf);
  const signer = toParty({ dkim, spf: { ...spf, result: null } }, foreignSignature?.domain);
  const isFirst = signer && sendsForOthers(signer) && !isDkimAligned;
  const party = (isFirst ? signer : bringer || signer) || undefined;
  if (spf.isAligned || isDkimAligned) return party ?? 'own';
  return toSenderParty({ party, bringer: bringer || undefined }, facts, context);
}

interface Claimed {
  readonly party: Party | undefined;
  readonly bringer: Party | undefined;
}

/** Who sends what does not pass. */
function toSenderParty(
  { party, bringer }: Claimed,
  facts: Facts,
  context: JudgeContext,
): Party | undefined {
  if (party?.service === undefined) return toSisterParty(facts, context) ?? party;
  const sender = sendsForOthers(party) ? party : bringer;
  return toCustomerParty(sender, facts, context) ?? toPersonParty(party, facts);
}

/** Only the owner has the key of another domain of the owner's, whoever brings the message. */
function toSisterParty({ dkim }: Facts, context: JudgeContext): Party | undefined {
  const signers = dkim.filter(({ result }) => result === 'pass').map(({ domain }) => domain);
  const sister = signers.find((name) => !!name && context.isSister(name));
  return sister
    ? { ...toDomainParty(context.toOrganizationalDomain(sister)), isSister: true }
    : undefined;
}

/** The customer of a service, who is not the owner, is who sends. */
function toCustomerParty(
  sender: Party | undefined,
  facts: Facts,
  context: JudgeContext,
): Party | undefined {
  if (sender === undefined || !sendsForOthers(sender)) return undefined;
  const customer = findCustomer(facts, context);
  if (customer === undefined || context.isSister(customer)) return undefined;
  const title = `${customer} at ${sender.title}`;
  return { ...toDomainParty(customer), title, via: sender.service };
}

/** People write from addresses of their own at services with mailboxes. */
function toPersonParty(party: Party | undefined, { foreignSpf }: Facts): Party | undefined {
  const service = party?.service;
  const isPerson = foreignSpf && service?.kind === 'mailbox' && !isTenant(service);
  return party && isPerson ? { ...party, person: service.domain } : party;
}

/** Names that services with mailboxes give to their customers. */
const isTenant = ({ domain }: NamedService) =>
  ['onmicrosoft.com', 'gappssmtp.com'].includes(domain);

/** For whom a service has sent: the domain in the envelope or of a signature that is no service's. */
function findCustomer(
  { foreignSpf, dkim, from }: Facts,
  context: JudgeContext,
): string | undefined {
  const { toOrganizationalDomain, nameService } = context;
  const own = toOrganizationalDomain(from);
  const signers = dkim.filter(({ result }) => result === 'pass').map(({ domain }) => domain);
  return [foreignSpf, ...signers]
    .filter((name): name is string => !!name && HOST_NAME.test(name))
    .filter((name) => nameService({ results: [], name }) === undefined)
    .map(toOrganizationalDomain)
    .find((name) => name !== own);
}

/** Reports have other text, too, which is the name of nobody. */
const HOST_NAME = /^[a-z0-9_.-]+$/;

function toDomainParty(title: string): Party {
  return { kind: 'domain', key: `domain ${title}`, title, service: undefined };
}

function toServiceParty(service: NamedService): Party {
  return { kind: 'service', key: `service ${service.name}`, title: service.name, service };
}

/**
 * Less than a tenth of an address's mail does not say whose it is: it may be passed on. So much is enough for a service that
 * sends for others; another party has to have claimed most.
 */
function findMost(
  results: SentMail['results'],
  toClaim: (seen: SeenMail) => Claim,
): Party | undefined {
  const [only] = results;
  if (results.length === 1 && only !== undefined) return toClaimed(toClaim(only.seen));
  const sums = new Map<string, { readonly claim: Claim; messages: number }>();
  let all = 0;
  for (const { seen, messages } of results) {
    const claim = toClaim(seen);
    all = addSafely(all, messages);
    if (claim === undefined) continue;
    const key = claim === 'own' ? claim : claim.key;
    const sum = sums.get(key) ?? { claim, messages: 0 };
    sum.messages = addSafely(sum.messages, messages);
    sums.set(key, sum);
  }
  const claims = [...sums.values()]
    .filter(({ messages }) => 10 * messages >= all)
    .sort((a, b) => b.messages - a.messages)
    .map(({ claim }) => toClaimed(claim));
  return claims.find((one) => one && sendsForOthers(one)) ?? claims[0];
}

const toClaimed = (claim: Claim) => (claim === 'own' ? undefined : claim);
