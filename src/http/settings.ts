import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { ConfigError } from '../config/variable.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import type { SettingsDeps } from '../settings/deps.ts';
import { type IpDatabase, openIpDatabase } from '../settings/ip-database.ts';
import { createSettings } from '../settings/settings.ts';

/** What the pages get from modules that they do not import. */
type FromModules = 'openSealing' | 'findNetwork' | 'checkRoute';
type OpenSettingsDeps = Omit<SettingsDeps, FromModules> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile' | 'ipDatabase'>>;

interface Settings {
  readonly router: Router;
  readonly close: () => void;
}

export async function openSettings(deps: OpenSettingsDeps, log: Logger): Promise<Settings> {
  const { dnsServers = [], secretsKeyFile, ipDatabase } = deps;
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const networks = ipDatabase === undefined ? undefined : await openNetworks(ipDatabase, log);
  const router = createSettings({
    ...deps,
    openSealing,
    findNetwork: networks?.find,
    checkRoute: (route) => checkReportRoute(dnsServers, route),
  });
  return { router, close: () => networks?.close() };
}

/** A file that cannot be used is an error at start: pages without networks would be noticed late. */
async function openNetworks(file: string, log: Logger): Promise<IpDatabase> {
  const warn = (error: Error) =>
    log.warn({ err: error }, 'the database of networks stays the former');
  return await openIpDatabase(file, { warn }).catch((error: Error) => {
    throw new ConfigError(`PLUMBLINE_IP_DATABASE: ${error.message}`);
  });
}
