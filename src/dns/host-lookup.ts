import { lookup } from 'node:dns/promises';
import { createDns } from './resolver.ts';

/**
 * Finds all addresses of a host: by the given servers, or as the system does, which also reads its own table of hosts.
 * Rejects when nobody answers.
 */
export function createHostLookUp(
  servers: readonly string[],
): (name: string) => Promise<readonly string[]> {
  if (servers.length === 0)
    return async (name) => (await lookup(name, { all: true })).map(({ address }) => address);
  const { findAddresses } = createDns(servers);
  return async (name) => {
    const found = await Promise.all([findAddresses(name, 4), findAddresses(name, 6)]);
    if (found.every((addresses) => addresses === undefined))
      throw new Error(`No DNS server answered for ${name}.`);
    return found.flatMap((addresses) => addresses ?? []);
  };
}
