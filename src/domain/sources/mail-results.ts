import { parsePattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';
import type { DaySources, PassCounts } from './day-sources.ts';

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

export function toMailResults(sources: DaySources): MailResults {
  const applied = new Map<string | null, number>();
  const signatures = new Sums<SignatureResults>();
  for (const [pattern, messages] of addUpPatterns(sources)) {
    const { dkim, spf, isDkimAligned, disposition } = parsePattern(pattern);
    if (!(isDkimAligned || spf.isAligned))
      applied.set(disposition, addSafely(applied.get(disposition) ?? 0, messages));
    for (const { domain, selector, result } of dkim) {
      const aligned = result === 'pass' ? messages : 0;
      signatures.add(JSON.stringify([domain, selector]), { domain, selector, messages, aligned });
    }
  }
  return { applied, signatures: signatures.list(), reporters: addUpReporters(sources) };
}

function addUpReporters(sources: DaySources): readonly ReporterResults[] {
  const sums = new Sums<ReporterResults>();
  for (const { reporters } of sources.values())
    for (const [name, { messages, aligned }] of reporters)
      sums.add(name ?? '', { name, messages, aligned });
  return sums.list();
}

function addUpPatterns(sources: DaySources): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { patterns } of sources.values())
    for (const [pattern, messages] of patterns)
      sums.set(pattern, addSafely(sums.get(pattern) ?? 0, messages));
  return sums;
}

class Sums<T extends PassCounts> {
  readonly #sums = new Map<string, T>();

  add(key: string, one: T): void {
    const { messages, aligned } = this.#sums.get(key) ?? { messages: 0, aligned: 0 };
    const sum = {
      messages: addSafely(messages, one.messages),
      aligned: addSafely(aligned, one.aligned),
    };
    this.#sums.set(key, { ...one, ...sum });
  }

  list(): readonly T[] {
    const failed = ({ messages, aligned }: PassCounts) => messages - aligned;
    return [...this.#sums.values()].sort(
      (a, b) => failed(b) - failed(a) || b.messages - a.messages,
    );
  }
}
