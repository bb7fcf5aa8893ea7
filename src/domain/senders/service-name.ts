import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { remember } from '../remember.ts';
import { addSafely } from '../safe-sum.ts';
import type { SeenMail, Sighting } from '../sources/evidence.ts';
import type { Service, Services } from './services.ts';

type Seen = Pick<SeenMail, 'dkim' | 'spf'>;

/** What is known of who sent: what reporters said, and the name in DNS that leads back to the address. */
export interface NameEvidence {
  readonly results: readonly Sighting<Seen>[];
  readonly name: string | undefined;
}

export interface NamedService extends Service {
  /** The most trusted evidence that has the name: a signature that passed, SPF that passed, or the name in DNS. */
  readonly by: 'dkim' | 'spf' | 'dns';
  /** The domain that is the evidence. */
  readonly domain: string;
}

export interface NameContext {
  /** The monitored domain: that its own mail is signed as itself names no service. */
  readonly domain: string;
  readonly services: Services;
  /** Does not know private suffixes: `contoso.onmicrosoft.com` is Microsoft's. */
  readonly toOrganizationalDomain: ToOrganizationalDomain;
}

/** A domain that passed, and its service. */
interface Claim {
  readonly service: Service;
  readonly domain: string;
}

/**
 * Gives the service that sent, undefined when no evidence names one. What anybody can write, a name in a header, is none.
 * What the same results claim is looked up once.
 */
export function createNamer(
  context: NameContext,
): (evidence: NameEvidence) => NamedService | undefined {
  const toClaim = (domain: string | null) => findClaim(domain, context);
  const toSigners = remember(({ dkim }: Seen) =>
    dkim.flatMap(({ domain, result }) => (result === 'pass' ? toClaim(domain) : [])),
  );
  const toSender = remember(({ spf }: Seen) => (spf.result === 'pass' ? toClaim(spf.domain) : []));
  return ({ results, name }) =>
    findMost('dkim', results, toSigners) ??
    findMost('spf', results, toSender) ??
    findMost('dns', [{ seen: name ?? null, messages: 1 }], toClaim);
}

/** One or none. */
function findClaim(
  domain: string | null,
  { domain: own, services, toOrganizationalDomain }: NameContext,
): readonly Claim[] {
  const organisation = domain ? toOrganizationalDomain(domain.toLowerCase()) : '';
  const service = services.get(organisation);
  if (service === undefined || organisation === toOrganizationalDomain(own)) return [];
  return [{ service, domain: organisation }];
}

/** Several services can sign one message, and one address can serve several: the service of most messages. */
function findMost<T>(
  by: NamedService['by'],
  results: readonly Sighting<T>[],
  toClaims: (seen: T) => readonly Claim[],
): NamedService | undefined {
  const sums = new Map<Service, { domain: string; messages: number }>();
  for (const { seen, messages } of results)
    for (const { service, domain } of toClaims(seen)) {
      const former = sums.get(service)?.messages ?? 0;
      sums.set(service, { domain, messages: addSafely(former, messages) });
    }
  const [most] = [...sums].sort(([, a], [, b]) => b.messages - a.messages);
  return most && { ...most[0], by, domain: most[1].domain };
}
