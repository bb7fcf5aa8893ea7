import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { ConfigError } from '../config/variable.ts';
import { type IpDatabase, openIpDatabase, openShippedNetworks } from '../settings/ip-database.ts';

/** What `npm run networks` writes. */
export const SHIPPED_NETWORKS = fileURLToPath(
  new URL('../../generated/networks.mmdb', import.meta.url),
);

/**
 * The API and the settings pages share it. The operator's file wins; when it cannot be used, that is an error at start: it
 * would be noticed late.
 */
export async function openNetworks(
  {
    ipDatabase,
    shippedNetworks,
  }: { ipDatabase?: string | undefined; shippedNetworks?: string | undefined },
  log: Logger,
): Promise<IpDatabase | undefined> {
  if (ipDatabase === undefined)
    return shippedNetworks === undefined ? undefined : await openShippedNetworks(shippedNetworks);
  const warn = (error: Error) =>
    log.warn({ err: error }, 'the database of networks stays the former');
  return await openIpDatabase(ipDatabase, { warn }).catch((error: Error) => {
    throw new ConfigError(`PLUMBLINE_IP_DATABASE: ${error.message}`);
  });
}
