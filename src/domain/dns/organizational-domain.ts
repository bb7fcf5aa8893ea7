/** One label more than the public suffix (RFC 7489, 3.2); the name itself when it has none. */
export type ToOrganizationalDomain = (name: string) => string;

interface SuffixOptions {
  /** Whether the suffixes below which companies give names to strangers count, too, such as `github.io`. */
  readonly allowPrivateDomains: boolean;
}

/** An import costs ten microseconds and more each time, and a mail asks several times. */
let suffixes: Promise<typeof import('tldts')> | undefined;

/** Loads the list of public suffixes, which takes 20 ms the first time. */
export async function loadOrganizationalDomains(
  { allowPrivateDomains }: SuffixOptions = { allowPrivateDomains: false },
): Promise<ToOrganizationalDomain> {
  suffixes ??= import('tldts');
  const { getDomain } = await suffixes;
  const options = { allowPrivateDomains, validateHostname: false };
  return (name) => getDomain(name, options) ?? name;
}

/** Names with the same result have one owner: two names below a private suffix, such as `github.io`, have two. */
export function loadOwnerDomains(): Promise<ToOrganizationalDomain> {
  return loadOrganizationalDomains({ allowPrivateDomains: true });
}

/** Whether one owner has both names. Receivers ask for the consent of the other owner where there are two. */
export async function isOfSameOwner(a: string, b: string): Promise<boolean> {
  const toOwnerDomain = await loadOwnerDomains();
  return toOwnerDomain(a) === toOwnerDomain(b);
}
