import type { ReportRecord, SourceTally } from './aggregate-report.ts';
import { passesDmarc } from './alignment.ts';

/** How many sources are kept of one report, and of all reports of one day. */
export const MAX_SOURCES = 1_000;

/** Addresses counted at the same time: more than any honest report has; about 2 MB. */
const MAX_COUNTED = 10_000;

/**
 * What each address sent, counted while a report's records are read, in bounded memory. When there are too
 * many addresses, the half with the smallest counts is dropped. A dropped address that occurs again is
 * counted from zero, so a count here may be too small and is never too large. The report's own totals are in
 * its tally and are exact.
 */
export class SourceCounts {
  #counts = new Map<string, { messages: number; aligned: number }>();

  add({ sourceIp, count, policyEvaluated }: ReportRecord): void {
    if (sourceIp === null || count === 0) return;
    const aligned = passesDmarc(policyEvaluated) ? count : 0;
    const known = this.#counts.get(sourceIp);
    if (known === undefined) this.#insert(sourceIp, { messages: count, aligned });
    else {
      known.messages += count;
      known.aligned += aligned;
    }
  }

  /** The largest sources, largest first. */
  largest(limit = MAX_SOURCES): SourceTally[] {
    return this.#counts
      .entries()
      .map(([address, counts]) => ({ address, ...counts }))
      .toArray()
      .sort(bySize)
      .slice(0, limit);
  }

  #insert(address: string, counts: { messages: number; aligned: number }): void {
    if (this.#counts.size >= MAX_COUNTED) {
      const kept = this.largest(MAX_COUNTED / 2);
      this.#counts = new Map(kept.map(({ address, ...counts }) => [address, counts]));
    }
    this.#counts.set(address, counts);
  }
}

/** Ties are ordered by address, so that the same report always keeps the same sources. */
function bySize(a: SourceTally, b: SourceTally): number {
  return b.messages - a.messages || (a.address < b.address ? -1 : 1);
}
