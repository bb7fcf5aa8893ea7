import { Failure } from '../domain/failure.ts';
import type { Day } from '../domain/instant.ts';
import { parseNetwork } from '../domain/network-address.ts';
import { failedOf } from '../domain/pass-rate.ts';
import { sortFirst } from '../domain/sort.ts';
import { stateInAccount, toLately } from '../store/days/believed.ts';
import { readMarks } from '../store/days/marks.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { type ScopedQuery, type SourceSum, type SummedRange, sumRange } from './summed-range.ts';

/** Which sources a list has; all where nothing is given. */
interface SourceFilter {
  /** Of which messages failed. */
  readonly isFailing?: boolean;
  /** An address, or a network. */
  readonly address?: string | undefined;
  /** Some addresses. */
  readonly among?: readonly string[] | undefined;
}

export interface SourceQuery extends ScopedQuery, SourceFilter {
  /** `failed` when none is given. */
  readonly order?: keyof typeof ORDERS | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** What sources depend on besides their range. */
export type SourcesState = NonNullable<Awaited<ReturnType<typeof findSourcesState>>>;

/** Throws `not_found` when the account has no such domain. */
export async function readSources(reader: Reader, { scope, range, today, ...query }: SourceQuery) {
  const state = await readSourcesState(reader, scope, today);
  const { summed, counted } = await sumRange(reader, { ...scope, range, today }, state);
  const { among, offset, limit } = query;
  const sorted = sortAll(summed, query);
  const isAmong = among && new Set(among);
  const found = isAmong ? sorted.filter(({ address }) => isAmong.has(address)) : sorted;
  const sources = found.slice(offset, offset + limit).map(({ sent: _, ...source }) => source);
  return { ...state, ...toTotals(summed), sources, total: found.length, counted };
}

/** A range without its sources. */
export function toTotals(summed: SummedRange) {
  const { state, aside, days, messages, aligned, listed, sources } = summed;
  return {
    ...state,
    /** What does not count in the range. */
    aside,
    /** How many days of the range have reports, also when these count no message. */
    days,
    messages,
    aligned,
    /** Messages of addresses that are not kept: a day keeps 1,000. */
    unlisted: Math.max(0, messages - listed),
    /** How many addresses the range has. */
    total: sources.size,
  };
}

/** Lists of a range that are kept with it: two orders, and some with filters. */
const MAX_SORTED = 8;

/** Once while the range is kept: a list has many pages, and to look up 100,000 addresses in a network takes 0.1 s. */
function sortAll(
  { sources, sorted }: SummedRange,
  { order = 'failed', isFailing = false, address: of }: SourceFilter & Pick<SourceQuery, 'order'>,
): readonly SourceSum[] {
  const key = [order, isFailing, of].join(' ');
  const known = sorted.get(key);
  if (known !== undefined) return known;
  const isIn = of?.includes('/') ? parseNetwork(of) : (address: string) => address === of;
  const found = [...sources.values()].filter(
    (source) =>
      (!isFailing || failedOf(source) > 0) && (of === undefined || isIn?.(source.address)),
  );
  if (sorted.size >= MAX_SORTED) sorted.clear();
  sorted.set(key, found.sort(inOrder(ORDERS[order])));
  return found;
}

type Compare = (a: SourceSum, b: SourceSum) => number;

const byMessages: Compare = (a, b) => b.messages - a.messages;

const ORDERS = {
  messages: byMessages,
  /** Most failed messages first. */
  failed: (a: SourceSum, b: SourceSum) =>
    b.messages - b.aligned - (a.messages - a.aligned) || byMessages(a, b),
} as const satisfies Record<string, Compare>;

/** Sources that `compare` does not distinguish are ordered by address. */
const inOrder =
  (compare: Compare): Compare =>
  (a, b) =>
    compare(a, b) || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0);

export function sortFailing(sources: readonly SourceSum[], count: number): SourceSum[] {
  return sortFirst(sources, inOrder(ORDERS.failed), count);
}

/** Throws `not_found` when the account has no such domain. */
export async function readSourcesState(reader: Reader, scope: DomainOfAccount, today: Day) {
  const state = await findSourcesState(reader, scope, today);
  if (state === undefined) throw new Failure('not_found', 'No such domain.');
  return state;
}

/** undefined when the account has no such domain. Each change of its reports gives it another version. */
export async function findSourcesState(reader: Reader, scope: DomainOfAccount, today: Day) {
  const asked = reader.readAll(stateInAccount({ ...scope, ...toLately(today) }));
  const [[found], marks] = await Promise.all([asked, readMarks(reader, scope.domainId)]);
  if (found === undefined) return undefined;
  const { version, reporters, domain } = found;
  return { version, reporters, domain, marks };
}
