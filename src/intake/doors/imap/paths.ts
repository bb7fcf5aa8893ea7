import type { NamespacesObject } from 'imapflow';

/**
 * The names by which a server may know a mailbox, the likelier one first. A name that begins with a namespace's prefix
 * is whole (RFC 2342); any other one is usually in the user's own namespace, and in one without a prefix at times.
 */
export function toPaths(name: string, namespaces: NamespacesObject | undefined): string[] {
  if (name.toUpperCase() === 'INBOX') return ['INBOX'];
  const { personal = [], other, shared } = namespaces ?? {};
  const all = [...personal, ...(other || []), ...(shared || [])];
  const isWhole = all.some(({ prefix }) => prefix !== '' && name.startsWith(prefix));
  return isWhole ? [name] : [...new Set([`${personal[0]?.prefix ?? ''}${name}`, name])];
}
