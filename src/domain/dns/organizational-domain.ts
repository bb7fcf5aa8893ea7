/** One label more than the public suffix (RFC 7489, 3.2); the name itself when it has none. */
export type ToOrganizationalDomain = (name: string) => string;

/** An import costs ten microseconds and more each time, and a mail asks several times. */
let suffixes: Promise<typeof import('tldts')> | undefined;

/**
 * Loads the list of public suffixes, which takes 20 ms the first time. `allowPrivateDomains` says whether the suffixes
 * below which companies give names to strangers count, too, such as `github.io`.
 */
export async function loadOrganizationalDomains(
  { allowPrivateDomains } = { allowPrivateDomains: false },
): Promise<ToOrganizationalDomain> {
  suffixes ??= import('tldts');
  const { getDomain } = await suffixes;
  const options = { allowPrivateDomains, validateHostname: false };
  return (name) => getDomain(name, options) ?? name;
}

/** Names with the same result have one owner: two names below a private suffix, such as `github.io`, have two. */
export const loadOwnerDomains = () => loadOrganizationalDomains({ allowPrivateDomains: true });

/** Whether one owner has both names. Receivers ask for the consent of the other owner where there are two. */
export async function isOfSameOwner(a: string, b: string): Promise<boolean> {
  const toOwnerDomain = await loadOwnerDomains();
  return toOwnerDomain(a) === toOwnerDomain(b);
}
