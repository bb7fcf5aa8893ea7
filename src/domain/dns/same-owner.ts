/**
 * Whether two names have one organizational domain, so that one owner has both. The list of public suffixes is
 * loaded here only, because it takes 20 ms.
 */
export async function isOfSameOwner(a: string, b: string): Promise<boolean> {
  const { getDomain } = await import('tldts');
  const [first, second] = [a, b].map(
    (name) => getDomain(name, { validateHostname: false }) ?? name,
  );
  return first === second;
}
