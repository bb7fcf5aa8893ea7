import { Resolver } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDomainName } from '../domain/domain-name.ts';
import { parseIpAddress } from '../domain/ip-address.ts';

/** The name of an address; null when it has none that leads back to it; undefined when no server answered in time. */
export type LookUpName = (address: string) => Promise<string | null | undefined>;

const OPTIONS = { timeout: 3_000, tries: 2 } as const;
/** All queries about one address may take so long. */
const DEADLINE_MS = 10_000;
/** Names of one address that are tried: anybody can publish thousands for an address of theirs. */
const MAX_NAMES = 5;
/** The name does not exist, or has no record of the type. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Asks the given servers, or the system's. Whoever has an address can publish any name for it, so only a name that has
 * the address among its own counts (forward-confirmed reverse DNS, RFC 8601, 2.7.3).
 */
export function createNameLookUp(
  servers: readonly string[],
  {
    deadlineMs = DEADLINE_MS,
    timeout = OPTIONS.timeout,
  }: { deadlineMs?: number; timeout?: number } = {},
): LookUpName {
  return async (address) => {
    const resolver = new Resolver({ ...OPTIONS, timeout });
    if (servers.length > 0) resolver.setServers(servers);
    const done = new AbortController();
    const late = sleep(deadlineMs, undefined, { signal: done.signal }).catch(() => undefined);
    try {
      return await Promise.race([findName(resolver, address), late]);
    } finally {
      done.abort();
      resolver.cancel();
    }
  };
}

async function findName(resolver: Resolver, address: string): Promise<string | null | undefined> {
  // `reverse` would read /etc/hosts, too, and take a failure of the server for an answer.
  const found = await orAbsent(resolver.resolvePtr(toPointerName(address)));
  if (found === undefined) return undefined;
  const names = found.map((text) => parseDomainName(text)).filter((name) => name !== undefined);
  let isSure = true;
  for (const name of names.sort().slice(0, MAX_NAMES)) {
    const addresses = await orAbsent(
      isIPv4(address) ? resolver.resolve4(name) : resolver.resolve6(name),
    );
    if (addresses?.some((one) => parseIpAddress(one) === address)) return name;
    isSure &&= addresses !== undefined;
  }
  return isSure ? null : undefined;
}

/** The name at which the names of an address are published (RFC 1035, 3.5; RFC 3596, 2.5). */
function toPointerName(address: string): string {
  if (isIPv4(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const [head = '', tail = ''] = address.split('::').map((part) => toDigits(part));
  const digits = `${head}${'0'.repeat(32 - head.length - tail.length)}${tail}`;
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

function toDigits(groups: string): string {
  if (groups === '') return '';
  return groups
    .split(':')
    .map((group) => group.padStart(4, '0'))
    .join('');
}

async function orAbsent(answer: Promise<string[]>): Promise<string[] | undefined> {
  try {
    return await answer;
  } catch (error) {
    return ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined;
  }
}
