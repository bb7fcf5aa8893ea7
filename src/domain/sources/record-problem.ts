import { toKeyName } from '../dns/dns-record.ts';
import type { Facts, Signature } from './evidence.ts';
import { type Phrase, phrase } from './phrase.ts';
import type { AdviceContext } from './rule.ts';

/** Results that say that a record was not found or could not be read (RFC 7208, 2.6; RFC 8601, 2.7.1). */
const PROBLEMS: ReadonlySet<string | null | undefined> = new Set(['permerror', 'temperror']);

export function isRecordProblem(result: string | null | undefined): boolean {
  return PROBLEMS.has(result);
}

/** What to do about a key that could not be read, as the end of a sentence. */
export function tellKeyProblem(broken: Signature | undefined): Phrase {
  const { domain, selector, result } = broken ?? {};
  return [
    ...phrase`receivers could not read the key (${result ?? ''}): `,
    ...(selector
      ? phrase`check the TXT record ${toKeyName({ selector, domain: domain ?? null })}.`
      : phrase`check the DKIM record in DNS.`),
  ];
}

/** The selector of a signature, to follow its domain. */
export function tellSelector(signature: Signature | undefined): Phrase {
  const selector = signature?.selector;
  return selector ? phrase` (selector ${selector})` : [];
}

/** What DNS has wrong of the key of a signature that does not verify. */
export function findKeyFault(
  broken: Signature | undefined,
  { findFault, who }: AdviceContext,
): string | undefined {
  return broken?.selector ? findFault?.(broken, who) : undefined;
}

export function tellSpfProblem(
  { spfDomain = '', spf: { result } }: Facts,
  { findFault }: AdviceContext,
): Phrase {
  const fault = findFault?.({ domain: spfDomain, selector: null });
  if (fault !== undefined) return [fault];
  return phrase`Receivers could not read the SPF record of ${spfDomain} (${result ?? ''}), so they did not learn whether it allows this address: check that there is only one, that its syntax is right, and that it needs at most ten DNS look-ups, all of which are answered.`;
}
