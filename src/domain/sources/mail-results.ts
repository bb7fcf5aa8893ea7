import { addTo } from '../alerts/rate.ts';
import { parsePattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';
import type { PassCounts } from './day-sources.ts';

export interface SignatureResults extends PassCounts {
  readonly domain: string | null;
  readonly selector: string | null;
}

export interface ReporterResults extends PassCounts {
  readonly name: string | null;
}

/** What reporters said of all mail of a domain. Messages of patterns or reporters that were not kept are missing. */
export interface MailResults {
  /** Messages that failed DMARC, by what receivers did with them. */
  readonly applied: ReadonlyMap<string | null, number>;
  /** Messages by the signatures that they had, most failures first. `aligned` are those whose signature verified. */
  readonly signatures: readonly SignatureResults[];
  /** Most failures first. */
  readonly reporters: readonly ReporterResults[];
}

export function toMailResults(
  patterns: ReadonlyMap<string, number>,
  reporters: ReadonlyMap<string | null, PassCounts>,
): MailResults {
  const applied = new Map<string | null, number>();
  const signatures = new Map<string, Writable<SignatureResults>>();
  for (const [pattern, messages] of patterns) {
    const { dkim, spf, isDkimAligned, disposition } = parsePattern(pattern);
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
    signatures: byFailures([...signatures.values()]),
    reporters: byFailures(named),
  };
}

function byFailures<T extends PassCounts>(all: readonly T[]): readonly T[] {
  const failed = ({ messages, aligned }: PassCounts) => messages - aligned;
  return all.toSorted((a, b) => failed(b) - failed(a) || b.messages - a.messages);
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
