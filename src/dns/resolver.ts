import { lookup, Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../domain/dns/report-route.ts';

/** How long one server may take, and how often all of them are asked. */
const TIMEOUT_MS = 3_000;
const TRIES = 2;

/** The name does not exist or has no record of the type: an answer like any other (NXDOMAIN, NODATA). */
export const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

export type Dns = ReturnType<typeof askWith>;

/** Asks the given servers, or the system's when none are given. */
export function createDns(servers: readonly string[], timeoutMs: number = TIMEOUT_MS) {
  return askWith(createResolver(servers, timeoutMs), toAnswer);
}

/**
 * Finds all addresses of a host: by the given servers, or as the system does, which also reads its own table of hosts.
 * Rejects when nobody answers.
 */
export function createHostLookUp(servers: readonly string[]) {
  if (servers.length === 0)
    return async (name: string) => {
      const found = await lookup(name, { all: true }).catch((error: NodeJS.ErrnoException) => {
        // getaddrinfo(3): no server answered.
        if (error.code !== 'EAI_AGAIN') throw error;
        throw new Error(`No DNS server answered for ${name}.`);
      });
      return found.map(({ address }) => address);
    };
  const { findAllAddresses } = createDns(servers);
  return async (name: string) => {
    const addresses = await findAllAddresses(name);
    if (addresses === undefined) throw new Error(`No DNS server answered for ${name}.`);
    return addresses;
  };
}

/** Bounds the time of all questions of `work` together: after the deadline, no question has an answer. */
export async function askInTime<T>(
  servers: readonly string[],
  deadlineMs: number,
  work: (dns: Dns) => Promise<T>,
): Promise<T> {
  const resolver = createResolver(servers, TIMEOUT_MS);
  const done = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: done.signal }).catch(() => undefined);
  try {
    return await work(askWith(resolver, (query) => Promise.race([toAnswer(query), deadline])));
  } finally {
    done.abort();
    resolver.cancel();
  }
}

export function createResolver(servers: readonly string[], timeout: number): Resolver {
  const resolver = new Resolver({ timeout, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

/** None of the questions rejects. */
function askWith(resolver: Resolver, ask: <T>(query: Promise<T>) => Promise<Answer<T>>) {
  const findAddresses = (name: string, family: 4 | 6) =>
    ask(family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
  return {
    findAddresses,
    /** undefined when no server answered for either family. */
    findAllAddresses: async (name: string) => {
      const found = await Promise.all([findAddresses(name, 4), findAddresses(name, 6)]);
      if (found.every((some) => some === undefined)) return undefined;
      return found.flatMap((some) => some ?? []);
    },
    findTexts: async (name: string) => {
      const texts = await ask(resolver.resolveTxt(name));
      if (!texts) return texts;
      // A text is sent in strings of at most 255 bytes (RFC 7208, 3.3).
      return texts.map((strings) => strings.join(''));
    },
    /** In the order in which they are to be tried. A null MX (RFC 7505) is no exchanger. */
    findExchangers: async (name: string) => {
      const records = await ask(resolver.resolveMx(name));
      if (!records) return records;
      if (records.length === 0) return null;
      const sorted = records.toSorted((a, b) => a.priority - b.priority);
      return sorted.map(({ exchange }) => exchange).filter((exchange) => exchange !== '');
    },
    // `reverse` would read /etc/hosts, too, and take a failure of the server for an answer.
    findPointers: (name: string) => ask(resolver.resolvePtr(name)),
  };
}

async function toAnswer<T>(query: Promise<T>): Promise<Answer<T>> {
  try {
    return await query;
  } catch (error) {
    return ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? null : undefined;
  }
}
