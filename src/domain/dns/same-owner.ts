import { loadOrganizationalDomains } from './organizational-domain.ts';

/** Whether two names have one organizational domain, so that one owner has both. */
export async function isOfSameOwner(a: string, b: string): Promise<boolean> {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  return toOrganizationalDomain(a) === toOrganizationalDomain(b);
}
