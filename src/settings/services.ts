import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { loadOrganizationalDomains } from '../domain/dns/organizational-domain.ts';
import { remember } from '../domain/remember.ts';
import { createNamer } from '../domain/sources/service-name.ts';
import {
  parseGuides,
  parseServices,
  type ServiceGuide,
  type Services,
} from '../domain/sources/services.ts';

let services: Promise<{ readonly version: string; readonly byDomain: Services }> | undefined;

/** The list of services, which is read when it is needed first. */
function loadServices() {
  services ??= readData('./services/services.tsv').then((text) => ({
    version: hash('sha256', text),
    byDomain: parseServices(text),
  }));
  return services;
}

/** Another one in each version of Plumbline that names services otherwise. */
export async function findServicesVersion(): Promise<string> {
  return (await loadServices()).version;
}

function readData(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}

let guides: Promise<ReadonlyMap<string, ServiceGuide>> | undefined;

/** How a service is set up to send for a domain, by its own documentation. */
export async function findGuide(service: string): Promise<ServiceGuide | undefined> {
  guides ??= readData('./services/guides.tsv').then(parseGuides);
  return (await guides).get(service);
}

/** Names services that send for a domain. */
export async function loadNamer(domain: string): Promise<ReturnType<typeof createNamer>> {
  const toOrganizationalDomain = remember(await loadOrganizationalDomains());
  const { byDomain } = await loadServices();
  return createNamer({ domain, services: byDomain, toOrganizationalDomain });
}
