import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { loadOrganizationalDomains } from '../domain/dns/organizational-domain.ts';
import { remember } from '../domain/remember.ts';
import { createNamer } from '../domain/senders/service-name.ts';
import { parseGuides, parseServices } from '../domain/senders/services.ts';
import { once } from '../domain/text.ts';

/** The list of services, which is read when it is needed first. */
const loadServices = once(async () => {
  const text = await readData('./services/services.tsv');
  return { version: hash('sha256', text), byDomain: parseServices(text) };
});

const loadGuides = once(async () => parseGuides(await readData('./services/guides.tsv')));

/** Another one in each version of Plumbline that names services otherwise. */
export async function findServicesVersion(): Promise<string> {
  return (await loadServices()).version;
}

function readData(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}

/** How a service is set up to send for a domain, by its own documentation. */
export async function findGuide(service: string) {
  return (await loadGuides()).get(service);
}

/** Names services that send for a domain. */
export async function loadNamer(domain: string): Promise<ReturnType<typeof createNamer>> {
  const toOrganizationalDomain = remember(await loadOrganizationalDomains());
  const { byDomain } = await loadServices();
  return createNamer({ domain, services: byDomain, toOrganizationalDomain });
}
