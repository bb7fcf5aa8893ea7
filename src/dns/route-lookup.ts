import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findRecord, toRecordName } from '../domain/dns/dns-record.ts';
import { toAuthorisationName } from '../domain/dns/records-to-publish.ts';
import {
  checkRoute,
  type Finding,
  findReportHost,
  type RouteFacts,
} from '../domain/dns/report-route.ts';
import { isOfSameOwner } from '../domain/dns/same-owner.ts';
import { orAbsent, RESOLVER_OPTIONS } from './record-lookup.ts';

/** How long all queries of one check may take. A query without an answer by then has none. */
const DEADLINE_MS = 10_000;

/** The domain, and the addresses at which we take reports. */
export type About = Pick<RouteFacts, 'domain' | 'addresses' | 'mailHost'>;
/** An answer; null for nothing; undefined when no server answered in time. */
type Ask = <T>(query: Promise<T>) => Promise<T | null | undefined>;

/** Asks the given DNS servers, or the system's, whether reports about a domain can come. */
export async function checkReportRoute(
  servers: readonly string[],
  about: About,
  deadlineMs: number = DEADLINE_MS,
): Promise<readonly Finding[]> {
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (servers.length > 0) resolver.setServers(servers);
  const done = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: done.signal }).catch(() => undefined);
  const ask: Ask = (query) => Promise.race([orAbsent(query), deadline]);
  try {
    return checkRoute(await findRoute(resolver, about, ask));
  } finally {
    done.abort();
    resolver.cancel();
  }
}

async function findRoute(resolver: Resolver, about: About, ask: Ask): Promise<RouteFacts> {
  const { domain, addresses } = about;
  const findDmarc = async (name: string) => toDmarc(await ask(resolver.resolveTxt(name)));
  const record = await findDmarc(toRecordName('dmarc', domain));
  const host = findReportHost({ record, addresses });
  const isExternal = !(await isOfSameOwner(host, domain));
  const [authorisation, exchangers] = await Promise.all([
    isExternal ? findDmarc(toAuthorisationName(domain, host)) : null,
    findExchangers(resolver, host, ask),
  ]);
  return {
    ...about,
    record,
    authorisations: new Map(isExternal ? [[host, authorisation]] : []),
    exchangers: new Map([[host, exchangers]]),
  };
}

/** A text is sent in strings of at most 255 bytes (RFC 7208, 3.3). */
function toDmarc(texts: readonly (readonly string[])[] | null | undefined) {
  if (texts == null) return texts;
  return findRecord(
    'dmarc',
    texts.map((strings) => strings.join('')),
  );
}

/** A host without MX records takes mail at its own address (RFC 5321, 5.1). A null MX takes none (RFC 7505). */
async function findExchangers(resolver: Resolver, host: string, ask: Ask) {
  const records = await ask(resolver.resolveMx(host));
  if (records === undefined) return undefined;
  if (records !== null && records.length > 0)
    return records
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ exchange }) => exchange)
      .filter((exchange) => exchange !== '');
  const addresses = await Promise.all([ask(resolver.resolve4(host)), ask(resolver.resolve6(host))]);
  if (addresses.every((some) => some === undefined)) return undefined;
  return addresses.flatMap((some) => some ?? []);
}
