import { findMisspelt, findRecord, toRecordName } from '../domain/dns/dns-record.ts';
import { findInherited, type InheritedPolicy, toParents } from '../domain/dns/held-policy.ts';
import { isOfSameOwner } from '../domain/dns/organizational-domain.ts';
import { toAuthorisationName } from '../domain/dns/records-to-publish.ts';
import {
  type Answer,
  findReportHost,
  listRouteFindings,
  type RouteFacts,
  type RouteFinding,
} from '../domain/dns/report-route.ts';
import { askInTime, type Dns } from './resolver.ts';

const DEADLINE_MS = 10_000;

type ReportRoute = Pick<RouteFacts, 'domain' | 'addresses' | 'mailHost'>;

/** Asks the given DNS servers, or the system's, whether reports about a domain can come. */
export async function checkReportRoute(
  servers: readonly string[],
  route: ReportRoute,
  deadlineMs: number = DEADLINE_MS,
): Promise<readonly RouteFinding[]> {
  return listRouteFindings(
    await askInTime(servers, deadlineMs, (dns) => findRouteFacts(dns, route)),
  );
}

async function findRouteFacts(dns: Dns, route: ReportRoute): Promise<RouteFacts> {
  const { domain, addresses } = route;
  const texts = await dns.findTexts(toRecordName('dmarc', domain));
  const record = texts && findRecord('dmarc', texts);
  const misspelt = findMisspelt(texts ?? []);
  const inherited = await findAbove(dns, domain);
  const host = findReportHost({ record, addresses });
  const isOtherOwner = !(await isOfSameOwner(host, domain));
  const [authorisation, exchangers] = await Promise.all([
    isOtherOwner ? findDmarc(dns, toAuthorisationName(domain, host)) : null,
    findExchangers(dns, host),
  ]);
  return { ...route, record, misspelt, inherited, host, isOtherOwner, authorisation, exchangers };
}

async function findAbove(dns: Dns, domain: string): Promise<InheritedPolicy | undefined> {
  const above = await Promise.all(
    toParents(domain).map(async (from) => {
      return { from, value: (await findDmarc(dns, toRecordName('dmarc', from))) ?? null };
    }),
  );
  return findInherited(above);
}

async function findDmarc(dns: Dns, name: string): Promise<Answer<string>> {
  const texts = await dns.findTexts(name);
  return texts && findRecord('dmarc', texts);
}

/** A host without MX records takes mail at its own address (RFC 5321, 5.1). */
async function findExchangers(dns: Dns, host: string): Promise<readonly string[] | undefined> {
  const exchangers = await dns.findExchangers(host);
  return exchangers === null ? await dns.findAllAddresses(host) : exchangers;
}
