import type { Day } from '../instant.ts';
import { type Counts, failedOf } from '../pass-rate.ts';
import type { Sort } from '../sort.ts';
import type { SourceCounts } from './source.ts';

/** What a list of sources, or of groups of them, can be sorted by. */
export const SOURCE_COLUMNS = ['messages', 'passed', 'failed', 'dkim', 'spf', 'last'] as const;
export type SourceColumn = (typeof SOURCE_COLUMNS)[number];

/** The last column has how many addresses a group has, and when a source was seen. */
interface Sorted extends SourceCounts {
  readonly sources?: number;
  readonly lastDay?: Day;
}

const toRate = (part: number, { messages }: Counts) => (messages === 0 ? 1 : part / messages);

const VALUES: Readonly<Record<SourceColumn, (one: Sorted) => number>> = {
  messages: ({ messages }) => messages,
  passed: ({ aligned }) => aligned,
  failed: failedOf,
  dkim: (one) => toRate(one.dkimAligned, one),
  spf: (one) => toRate(one.spfAligned, one),
  last: ({ sources, lastDay = '' }) => sources ?? Date.parse(lastDay),
};

/** Equals by their messages, then as they were. */
export function toSourceOrder({ column, order }: Sort<SourceColumn>) {
  const toValue = VALUES[column];
  const sign = order === 'asc' ? 1 : -1;
  return (a: Sorted, b: Sorted): number =>
    sign * (toValue(a) - toValue(b)) || b.messages - a.messages;
}
