import type { Facts } from './evidence.ts';
import { type Phrase, phrase } from './phrase.ts';

/** What to do about an SPF record that receivers could not read. */
export function tellSpfProblem({ spfDomain = '', spf: { result } }: Facts): Phrase {
  return phrase`Receivers could not read the SPF record of ${spfDomain} (${result ?? ''}), so they did not learn whether it allows this address: check that there is only one, that its syntax is right, and that it needs at most ten DNS look-ups, all of which are answered.`;
}
