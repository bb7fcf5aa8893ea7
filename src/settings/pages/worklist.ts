import { toPolicies } from '../../domain/dns/dns-record.ts';
import { toChange, toPassRate } from '../../domain/pass-rate.ts';
import type { Sort } from '../../domain/sort.ts';
import { findUnicodeName } from '../../domain/text.ts';
import { byName, type WorkItem } from '../../judging/work.ts';

export const WORK_COLUMNS = ['name', 'messages', 'rate', 'change', 'policy'] as const;
export type WorkColumn = (typeof WORK_COLUMNS)[number];

const POLICIES = ['absent', 'none', 'quarantine', 'reject'];

/** Domains without a value come last in either order. */
const VALUES: Readonly<
  Record<Exclude<WorkColumn, 'name'>, (item: WorkItem) => number | undefined>
> = {
  messages: ({ facts: { counts } }) => counts.messages,
  rate: ({ facts: { counts } }) => (counts.messages === 0 ? undefined : toPassRate(counts)),
  change: ({ facts }) => toChange(facts),
  policy: ({ facts: { record } }) =>
    record === undefined ? undefined : POLICIES.indexOf(toPolicies(record).p),
};

export function sortWork(items: readonly WorkItem[], { column, order }: Sort<WorkColumn>) {
  const sign = order === 'asc' ? 1 : -1;
  if (column === 'name') return items.toSorted((a, b) => sign * byName(a, b));
  const toValue = VALUES[column];
  return items.toSorted((a, b) => {
    const [one, other] = [toValue(a), toValue(b)];
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined) || byName(a, b);
    return sign * (one - other) || byName(a, b);
  });
}

/** Names are searched in Unicode and as A-labels. */
export function searchWork(items: readonly WorkItem[], search: string): readonly WorkItem[] {
  const wanted = search.toLowerCase();
  return items.filter(({ name }) =>
    [name, findUnicodeName(name) ?? ''].some((text) => text.includes(wanted)),
  );
}
