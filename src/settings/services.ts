import { readFile } from 'node:fs/promises';
import { loadOrganizationalDomains } from '../domain/dns/organizational-domain.ts';
import {
  type NamedService,
  type NameEvidence,
  nameService,
} from '../domain/sources/service-name.ts';
import { parseServices, type Services } from '../domain/sources/services.ts';

let services: Promise<Services> | undefined;

/** The list of services, which is read when a page needs it first. */
function loadServices(): Promise<Services> {
  services ??= readFile(new URL('./services/services.tsv', import.meta.url), 'utf8').then(
    parseServices,
  );
  return services;
}

/** Names services that send for a domain. */
export async function loadNamer(
  domain: string,
): Promise<(evidence: NameEvidence) => NamedService | undefined> {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const context = { domain, services: await loadServices(), toOrganizationalDomain };
  return (evidence) => nameService(evidence, context);
}
