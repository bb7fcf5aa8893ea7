import { addTo, type Counts, failedOf } from '../pass-rate.ts';
import type { parsePattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';
import type { Sighting } from './evidence.ts';
import type { Writable } from './source.ts';

export interface SignatureResults extends Counts {
  readonly domain: string | null;
  readonly selector: string | null;
}

/** What reporters said of all mail of a domain. Messages of patterns or reporters that were not kept are missing. */
export interface MailResults {
  /** Messages that failed DMARC, by what receivers did with them. */
  readonly applied: ReadonlyMap<string | null, number>;
  /** Messages by the signatures that they had, most failures first. `aligned` are those whose signature verified. */
  readonly signatures: readonly SignatureResults[];
  /** Most failures first. */
  readonly reporters: readonly (Counts & { readonly name: string | null })[];
}

export function toMailResults(
  results: Iterable<Sighting<ReturnType<typeof parsePattern>>>,
  reporters: ReadonlyMap<string | null, Counts>,
): MailResults {
  const applied = new Map<string | null, number>();
  const signatures = new Map<string, Writable<SignatureResults>>();
  for (const { seen, messages } of results) {
    const { dkim, spf, isDkimAligned, disposition } = seen;
    if (!(isDkimAligned || spf.isAligned))
      applied.set(disposition, addSafely(applied.get(disposition) ?? 0, messages));
    for (const { domain, selector, result } of dkim) {
      const key = JSON.stringify([domain, selector]);
      const sum = signatures.get(key) ?? { domain, selector, messages: 0, aligned: 0 };
      addTo(sum, { messages, aligned: result === 'pass' ? messages : 0 });
      signatures.set(key, sum);
    }
  }
  const named = [...reporters].map(([name, passes]) => ({ name, ...passes }));
  return {
    applied,
    signatures: [...signatures.values()].sort(byFailures),
    reporters: named.sort(byFailures),
  };
}

const byFailures = (a: Counts, b: Counts): number =>
  failedOf(b) - failedOf(a) || b.messages - a.messages;
