import { Resolver } from 'node:dns/promises';
import { getDomain } from 'tldts';
import { findRecord } from '../domain/dns/dns-record.ts';
import { toHost } from '../domain/dns/report-addresses.ts';
import type { RouteFacts } from '../domain/dns/report-route.ts';
import { createLookUp, orAbsent, RESOLVER_OPTIONS } from './dns-lookup.ts';

/** What `checkRoute` needs to know from DNS. */
export async function findRoute(
  servers: readonly string[],
  { domain, addresses, mailHost }: Pick<RouteFacts, 'domain' | 'addresses' | 'mailHost'>,
): Promise<RouteFacts> {
  const lookUp = createLookUp(servers);
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (servers.length > 0) resolver.setServers(servers);
  const hosts = [...new Set(addresses.map(toHost))];
  const external = hosts.filter((host) => !isOfSameOwner(host, domain));
  return {
    domain,
    addresses,
    mailHost,
    record: await lookUp('dmarc', domain),
    authorisations: await toMap(external, (host) => findAuthorisation(resolver, domain, host)),
    exchangers: await toMap(hosts, (host) => findExchangers(resolver, host)),
  };
}

/** Whether both have one organizational domain. Otherwise anybody could have reports sent to anybody. */
function isOfSameOwner(host: string, domain: string): boolean {
  const [a, b] = [host, domain].map((name) => getDomain(name, { validateHostname: false }) ?? name);
  return a === b;
}

async function findAuthorisation(resolver: Resolver, domain: string, host: string) {
  const texts = await orAbsent(resolver.resolveTxt(`${domain}._report._dmarc.${host}`));
  return (
    texts &&
    findRecord(
      'dmarc',
      texts.map((strings) => strings.join('')),
    )
  );
}

/** A host without MX records takes mail at its own address (RFC 5321, 5.1). A null MX takes none (RFC 7505). */
async function findExchangers(resolver: Resolver, host: string) {
  const records = await orAbsent(resolver.resolveMx(host));
  if (records === undefined) return undefined;
  if (records !== null && records.length > 0)
    return records
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ exchange }) => exchange)
      .filter((exchange) => exchange !== '');
  const addresses = await Promise.all([
    orAbsent(resolver.resolve4(host)),
    orAbsent(resolver.resolve6(host)),
  ]);
  if (addresses.every((some) => some === undefined)) return undefined;
  return addresses.flatMap((some) => some ?? []);
}

async function toMap<T>(
  names: readonly string[],
  find: (name: string) => Promise<T>,
): Promise<Map<string, T>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await find(name)] as const)));
}
