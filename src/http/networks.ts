import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/variable.ts';
import { type IpDatabase, openIpDatabase } from '../settings/ip-database.ts';

/** The API and the settings pages share it. A file that cannot be used is an error at start: it would be noticed late. */
export async function openNetworks(
  { ipDatabase }: Partial<Pick<Config, 'ipDatabase'>>,
  log: Logger,
): Promise<IpDatabase | undefined> {
  if (ipDatabase === undefined) return undefined;
  const warn = (error: Error) =>
    log.warn({ err: error }, 'the database of networks stays the former');
  return await openIpDatabase(ipDatabase, { warn }).catch((error: Error) => {
    throw new ConfigError(`PLUMBLINE_IP_DATABASE: ${error.message}`);
  });
}
