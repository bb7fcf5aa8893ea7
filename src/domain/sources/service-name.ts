import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { addSafely } from '../safe-sum.ts';
import type { Evidence } from './evidence.ts';
import type { Service, Services } from './services.ts';

/** What is known of who sent: what reporters said, and the name in DNS that leads back to the address. */
export interface NameEvidence {
  readonly results: readonly Pick<Evidence, 'dkim' | 'spf' | 'messages'>[];
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
  /** Without private suffixes: `contoso.onmicrosoft.com` is Microsoft's. */
  readonly toOrganizationalDomain: ToOrganizationalDomain;
}

/** The service that sent, undefined when no evidence names one. What anybody can write, a name in a header, is none. */
export function nameService(
  { results, name }: NameEvidence,
  context: NameContext,
): NamedService | undefined {
  const signers = results.flatMap(({ dkim, messages }) =>
    dkim.filter(({ result }) => result === 'pass').map(({ domain }) => ({ domain, messages })),
  );
  const senders = results
    .filter(({ spf }) => spf.result === 'pass')
    .map(({ spf, messages }) => ({ domain: spf.domain, messages }));
  const known = name === undefined ? [] : [{ domain: name, messages: 1 }];
  return (
    findMost('dkim', signers, context) ??
    findMost('spf', senders, context) ??
    findMost('dns', known, context)
  );
}

type Claim = { readonly domain: string | null; readonly messages: number };

/** Several services can sign one message, and one address can serve several: the service of most messages. */
function findMost(
  by: NamedService['by'],
  claims: readonly Claim[],
  { domain: own, services, toOrganizationalDomain }: NameContext,
): NamedService | undefined {
  const found = new Map<Service, { domain: string; messages: number }>();
  for (const { domain, messages } of claims) {
    const organisation = domain ? toOrganizationalDomain(domain.toLowerCase()) : '';
    const service = services.get(organisation);
    if (service === undefined || organisation === toOrganizationalDomain(own)) continue;
    const former = found.get(service)?.messages ?? 0;
    found.set(service, { domain: organisation, messages: addSafely(former, messages) });
  }
  const [most] = [...found].sort(([, a], [, b]) => b.messages - a.messages);
  return most && { ...most[0], by, domain: most[1].domain };
}
