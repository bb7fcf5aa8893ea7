import { addUp, type Counts } from '../alerts/rate.ts';
import type { Evidence } from './evidence.ts';

/** What one reporter said of some messages of a source that had the same results. */
export interface Reported extends Evidence {
  readonly reporter: string | null;
  /** Messages that passed DMARC. */
  readonly aligned: number;
  readonly disposition: string | null;
}

/** Messages with the same results, whoever reported them. */
export type Results = Omit<Reported, 'reporter'>;

export interface Reporter extends Counts {
  readonly name: string | null;
}

export interface Breakdown {
  /** Those with most messages first. */
  readonly results: readonly Results[];
  readonly reporters: readonly Reporter[];
}

export function toBreakdown(reported: readonly Reported[]): Breakdown {
  const results = new Map<string, Results>();
  const reporters = new Map<string | null, Reporter>();
  for (const { reporter, ...one } of reported) {
    const { messages, aligned, ...same } = one;
    const key = JSON.stringify(same);
    results.set(key, { ...one, ...addUp([results.get(key) ?? NONE, one]) });
    const counts = addUp([reporters.get(reporter) ?? NONE, one]);
    reporters.set(reporter, { name: reporter, ...counts });
  }
  return { results: toLargest(results), reporters: toLargest(reporters) };
}

const NONE: Counts = { messages: 0, aligned: 0 };

function toLargest<T extends Counts>(all: ReadonlyMap<unknown, T>): readonly T[] {
  return [...all.values()].sort((a, b) => b.messages - a.messages);
}
