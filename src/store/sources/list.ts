import type { Day, DayRange } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { sortFirst } from '../../domain/sort.ts';
import type { Mark } from '../../domain/sources/source.ts';
import type { KeyedSum } from '../../domain/sources/source-sums.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import {
  byFailed,
  byMessages,
  type PatternSums,
  type SourceSum,
  sumPatterns,
  toSourceSum,
} from './days.ts';
import { toMarkOf } from './marks.ts';
import {
  computeOnce,
  type KeptSums,
  readRange,
  type SourcesState,
  type SummedRange,
} from './summed-range.ts';

export interface SourceQuery {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
  /** `failed` when none is given. */
  readonly order?: keyof typeof ORDERS | ((a: KeyedSum, b: KeyedSum) => number) | undefined;
  readonly limit: number;
  readonly offset: number;
}

const ORDERS = { failed: byFailed, messages: byMessages } as const;

export interface SourceList extends SourcesState {
  /** Whether a report of the range is stored, also when it counts no message. */
  readonly hasReports: boolean;
  /** How many addresses match. */
  readonly total: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  /** In their order, equals by address. */
  readonly sources: readonly SourceSum[];
  /** Messages of the range that belong to no address that is kept: a day keeps its 1,000 largest. */
  readonly unlisted: number;
  /** The days whose packed sources are damaged (`repairDays`). */
  readonly damaged: readonly Day[];
  /** What reporters said of the mail of these sources. */
  readonly sumPatterns: () => Promise<PatternSums>;
}

/** Throws `not_found` when the account has no such domain. */
export async function readSources(
  reader: Reader,
  scope: DomainOfAccount,
  query: SourceQuery,
  kept?: KeptSums,
): Promise<SourceList> {
  const summed = await readRange(reader, scope, query.range, kept);
  const { version, domain, marks, days, sums, damaged } = summed;
  const { total, sources } = listSums(summed, query);
  const messages = sumOf(days);
  const listed = computeOnce(summed, 'listed', () => sumOf(sums));
  const addresses = sources.map(({ address }) => address);
  return {
    ...{ version, domain, marks, total, messages, sources, damaged },
    hasReports: days.length > 0,
    unlisted: Math.max(0, messages - listed),
    sumPatterns: () => sumPatterns(days, addresses),
  };
}

function listSums(
  summed: SummedRange,
  { failingOnly, mark, order = 'failed', limit, offset }: SourceQuery,
): Pick<SourceList, 'total' | 'sources'> {
  const part = [offset, offset + limit] as const;
  const failing = () => summed.sums.filter(({ messages, aligned }) => messages > aligned);
  const sums = failingOnly ? computeOnce(summed, 'failing', failing) : summed.sums;
  if (mark === undefined && typeof order === 'string') {
    const name = `${failingOnly ? 'failing' : 'all'} by ${order}`;
    const sort = (count: number) => sortFirst(sums, ORDERS[order], count);
    return { total: sums.length, sources: sliceOf(summed, { name, sort }, part) };
  }
  const markOf = toMarkOf(summed.marks);
  const isMarked = ({ key }: KeyedSum) => mark === (markOf(key) ?? 'unmarked');
  const matching = mark === undefined ? sums : sums.filter(isMarked);
  const compare = typeof order === 'string' ? ORDERS[order] : order;
  const sources = sortFirst(matching, compare, part[1]).slice(...part);
  return { total: matching.length, sources: sources.map(toSourceSum) };
}

interface Sorting {
  readonly name: string;
  /** The first in an order. */
  readonly sort: (count: number) => readonly KeyedSum[];
}

/** Sorts as many as are asked for first; who asks for more will ask for the rest. */
function sliceOf(
  summed: SummedRange,
  { name, sort }: Sorting,
  [offset, end]: readonly [number, number],
): readonly SourceSum[] {
  const asked = computeOnce(summed, name, () => ({ end, first: sort(end).map(toSourceSum) }));
  if (end <= asked.end) return asked.first.slice(offset, end);
  const all = computeOnce(summed, `${name}, to the end`, () => sort(summed.sums.length));
  return all.slice(offset, end).map(toSourceSum);
}

function sumOf(counts: readonly { readonly messages: number }[]): number {
  return counts.reduce((sum, { messages }) => addSafely(sum, messages), 0);
}
