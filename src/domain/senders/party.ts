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
  const title = toOrganizationalDomain(domain);
  const isOwn = remember((name: string) => toOrganizationalDomain(name) === title);
  const own = {
    kind: 'network',
    key: 'network own',
    title: `Servers named ${title}`,
    service: undefined,
  } as const;
  return ({ address, name, network, results }) => {
    const claimed = findMost(results, toClaim);
    if (claimed !== undefined) return claimed;
    if (name !== undefined && isOwn(name)) return own;
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
    return title ? ({ ...DOMAIN, key: `domain ${title}`, title } as const) : undefined;
  };
  const bringer = foreignSpf && toParty({ dkim: [], spf }, foreignSpf);
  const signer = toParty({ dkim, spf: { ...spf, result: null } }, foreignSignature?.domain);
  const isFirst = signer && sendsForOthers(signer) && !isDkimAligned;
  const own = spf.isAligned || isDkimAligned ? 'own' : undefined;
  return (isFirst ? signer : bringer || signer) ?? own;
}

/** Reports have other text, too, which is the name of nobody. */
const HOST_NAME = /^[a-z0-9_.-]+$/;

const DOMAIN = { kind: 'domain', service: undefined } as const;

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
