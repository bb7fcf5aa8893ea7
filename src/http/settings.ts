import type { RequestHandler, Router } from 'express';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import type { SettingsDeps } from '../settings/deps.ts';

/** `openSealing` and `checkRoute` come from modules that the pages do not import. */
type OpenSettingsDeps = Omit<SettingsDeps, 'openSealing' | 'checkRoute'> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile'>>;

/** Loads the pages with the first request for one: a process that serves programs alone is smaller by 15 MB. */
export function openSettings(deps: OpenSettingsDeps): RequestHandler {
  const { dnsServers = [], secretsKeyFile } = deps;
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const checkRoute: SettingsDeps['checkRoute'] = (route) => checkReportRoute(dnsServers, route);
  const load = async (): Promise<Router> => {
    const { createSettings } = await import('../settings/settings.ts');
    return createSettings({ ...deps, openSealing, checkRoute });
  };
  let pages: Promise<Router> | undefined;
  return async (req, res, next) => {
    pages ??= load();
    (await pages)(req, res, next);
  };
}
