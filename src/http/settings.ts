import type { Router } from 'express';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import type { SettingsDeps } from '../settings/deps.ts';
import { createSettings } from '../settings/settings.ts';

/** What the pages get from modules that they do not import. */
type FromModules = 'openSealing' | 'checkRoute';
type OpenSettingsDeps = Omit<SettingsDeps, FromModules> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile'>>;

export function openSettings(deps: OpenSettingsDeps): Router {
  const { dnsServers = [], secretsKeyFile } = deps;
  return createSettings({
    ...deps,
    openSealing: secretsKeyFile && createSealings(secretsKeyFile),
    checkRoute: (route) => checkReportRoute(dnsServers, route),
  });
}
