import { findTag, findTestTags, type RecordValue, toPolicies } from './dns-record.ts';

/** The record of a domain above: it holds for a name that has none of its own (RFC 9989, 4.10). */
export interface InheritedPolicy {
  /** The domain. */
  readonly from: string;
  readonly value: string;
}

export interface KnownRecord {
  readonly value: RecordValue;
  /** Where the name has no record. */
  readonly inherited?: InheritedPolicy | undefined;
}

/** The record that receivers go by: the name's own, or the tags that it has by the record of a domain above. */
export function toHeld({ value, inherited }: KnownRecord): RecordValue {
  if (value !== null || inherited === undefined) return value;
  const { sp, np } = toPolicies(inherited.value);
  const tags = [`p=${sp}`, ...(np === sp ? [] : [`np=${np}`]), ...findTestTags(inherited.value)];
  return tags.join('; ');
}

/** A name has so many labels at most where records above it are looked for (RFC 9989, 4.10). */
const MAX_LABELS = 8;

/** The domains above a name, the nearest first. Public suffixes with one label have no record that counts. */
export function toParents(name: string): readonly string[] {
  const labels = name.split('.').slice(-MAX_LABELS);
  const isCut = name.split('.').length > MAX_LABELS;
  return labels
    .map((_, i) => labels.slice(i).join('.'))
    .slice(isCut ? 0 : 1)
    .filter((parent) => parent.includes('.'));
}

/** Whether a record says that its domain is an organisation's. */
export const isOrganisation = (value: string): boolean =>
  findTag(value, 'psd')?.toLowerCase() === 'n';

/** The record of the organisation: that of the highest domain, up to one that says that it is the organisation's (`psd=n`). */
export function findInherited(
  above: readonly { readonly from: string; readonly value: RecordValue }[],
): InheritedPolicy | undefined {
  const found = above.filter(
    (one): one is InheritedPolicy => one.value !== null && !one.value.includes('\n'),
  );
  const own = found.find(({ value }) => isOrganisation(value));
  return own ?? found.findLast(({ value }) => findTag(value, 'psd')?.toLowerCase() !== 'y');
}
