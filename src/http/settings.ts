import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { ConfigError } from '../config/variable.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import type { ClosableReportOriginals } from '../intake/parser/report-originals.ts';
import type { SettingsDeps } from '../settings/deps.ts';
import { type IpDatabase, openIpDatabase } from '../settings/ip-database.ts';
import { createSettings } from '../settings/settings.ts';
import type { Store } from '../store/engine/store.ts';

/** What the pages get from modules that they do not import. */
type FromModules = 'reportReader' | 'openSealing' | 'findNetwork' | 'checkRoute';
type OpenSettingsDeps = Omit<SettingsDeps, FromModules> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile' | 'ipDatabase'>>;

interface Settings {
  readonly router: Router;
  readonly close: () => Promise<void>;
}

export async function openSettings(deps: OpenSettingsDeps, log: Logger): Promise<Settings> {
  const { dnsServers = [], secretsKeyFile, ipDatabase, store } = deps;
  const reportReader = createLazyReportReader(store);
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const networks = ipDatabase === undefined ? undefined : await openNetworks(ipDatabase, log);
  const router = createSettings({
    ...deps,
    ...{ reportReader, openSealing },
    findNetwork: networks?.find,
    checkRoute: (route) => checkReportRoute(dnsServers, route),
  });
  const close = async () => {
    await reportReader.close();
    networks?.close();
  };
  return { router, close };
}

/** What reads reports is loaded for the first page that needs it. */
function createLazyReportReader({ db }: Store): ClosableReportOriginals {
  let opened: Promise<ClosableReportOriginals> | undefined;
  const open = () => {
    opened ??= import('../intake/parser/report-originals.ts').then((module) =>
      module.createReportOriginals(db),
    );
    return opened;
  };
  return {
    readRecords: async (...asked) => (await open()).readRecords(...asked),
    readDocument: async (...asked) => (await open()).readDocument(...asked),
    close: async () => (await opened)?.close(),
  };
}

/** A file that cannot be used is an error at start: pages without networks would be noticed late. */
async function openNetworks(file: string, log: Logger): Promise<IpDatabase> {
  const warn = (error: Error) =>
    log.warn({ err: error }, 'the database of networks stays the former');
  return await openIpDatabase(file, { warn }).catch((error: Error) => {
    throw new ConfigError(`PLUMBLINE_IP_DATABASE: ${error.message}`);
  });
}
