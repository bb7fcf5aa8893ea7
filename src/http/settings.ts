import type { RequestHandler, Router } from 'express';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import { lookUpSenderRecords } from '../dns/sender-records-lookup.ts';
import { checkTls } from '../dns/tls-lookup.ts';
import type { SettingsDeps } from '../settings/deps.ts';

/** What comes from modules that the pages do not import. */
type Checks = Pick<SettingsDeps, 'checkRoute' | 'checkTls' | 'lookUpSenderRecords'>;

type OpenSettingsDeps = Omit<SettingsDeps, 'openSealing' | keyof Checks> &
  Partial<Pick<Config, 'dnsServers' | 'secretsKeyFile' | 'fetchesPolicyFiles'>>;

/** Loads the pages with the first request for one: a process that serves programs alone is smaller by 15 MB. */
export function openSettings(deps: OpenSettingsDeps): RequestHandler {
  const { dnsServers = [], secretsKeyFile, fetchesPolicyFiles: fetchesPolicy = true } = deps;
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const checks: Checks = {
    checkRoute: (route) => checkReportRoute(dnsServers, route),
    checkTls: (domain, addresses) => checkTls(dnsServers, { domain, addresses, fetchesPolicy }),
    lookUpSenderRecords: (names) => lookUpSenderRecords(dnsServers, names),
  };
  const load = async (): Promise<Router> => {
    const { createSettings } = await import('../settings/settings.ts');
    return createSettings({ ...deps, openSealing, ...checks });
  };
  let pages: Promise<Router> | undefined;
  return async (req, res, next) => {
    pages ??= load();
    (await pages)(req, res, next);
  };
}
