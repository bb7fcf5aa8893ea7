import { loadOrganizationalDomains } from './organizational-domain.ts';

/**
 * Whether two names have one organizational domain, so that one owner has both. Names of strangers below one private
 * suffix (`one.github.io`, `two.github.io`) have not: receivers ask for the consent of the other owner there, too.
 */
export async function isOfSameOwner(a: string, b: string): Promise<boolean> {
  const toOrganizationalDomain = await loadOrganizationalDomains({ allowPrivateDomains: true });
  return toOrganizationalDomain(a) === toOrganizationalDomain(b);
}
