/** The organizational domain of a name (RFC 7489, 3.2): one label more than its public suffix. The name itself when it has none. */
export type ToOrganizationalDomain = (name: string) => string;

/** Loads the list of public suffixes, which takes 20 ms the first time. */
export async function loadOrganizationalDomains(): Promise<ToOrganizationalDomain> {
  const { getDomain } = await import('tldts');
  return (name) => getDomain(name, { validateHostname: false }) ?? name;
}
