import type { RequestHandler, Router } from 'express';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import type { SettingsDeps } from '../settings/deps.ts';

/** What the pages get from modules that they do not import. */
type FromModules = 'openSealing' | 'checkRoute';
type OpenSettingsDeps = Omit<SettingsDeps, FromModules> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile'>>;

/** Loads the pages with the first request for one: a process that serves programs alone is smaller by 15 MB. */
export function openSettings(deps: OpenSettingsDeps): RequestHandler {
  const { dnsServers = [], secretsKeyFile } = deps;
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const load = async (): Promise<Router> => {
    const { createSettings } = await import('../settings/settings.ts');
    return createSettings({
      ...deps,
      openSealing,
      checkRoute: (route) => checkReportRoute(dnsServers, route),
    });
  };
  let pages: Promise<Router> | undefined;
  return async (req, res, next) => {
    pages ??= load();
    (await pages)(req, res, next);
  };
}
