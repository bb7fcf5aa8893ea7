import type { DayRange } from '../../domain/instant.ts';
import { type MailByStanding, sumByStanding } from '../../domain/readiness.ts';
import { addPatterns } from '../../domain/sources/day-sources.ts';
import { type MailResults, toMailResults } from '../../domain/sources/mail-results.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { readState, type SourcesState, sortFailing, withoutPatterns } from './source-list.ts';
import { type Counted, type RangeQuery, type SourceSum, sumRange } from './summed-range.ts';

/** Of which sources a domain's mail is. */
export interface DomainMail extends SourcesState {
  /** The sources with most failed messages, which are to be judged. */
  readonly failing: readonly SourceSum[];
  /** How many sources have failed messages. */
  readonly count: number;
  /** What all other sources sent, which nobody judges. */
  readonly others: MailByStanding;
}

interface MailQuery {
  readonly scope: DomainOfAccount;
  readonly range: DayRange;
  /** How many sources are to be judged. */
  readonly limit: number;
}

/** Throws `not_found` when the account has no such domain. */
export async function readMail(
  reader: Reader,
  { scope, range, limit }: MailQuery,
): Promise<DomainMail & Counted> {
  const state = await readState(reader, scope);
  const { summed, counted } = await sumRange(reader, { ...scope, range }, state.version);
  const all = [...summed.sources.values()];
  const failed = all.filter(({ messages, aligned }) => messages > aligned);
  const failing = sortFailing(failed, limit);
  const others = new Set(all).difference(new Set(failing));
  const marked = [...others].map((one) => ({ ...one, mark: state.marks.get(one.address)?.mark }));
  return {
    ...{ ...state, version: summed.version, counted, count: failed.length },
    ...{ failing: failing.map(withoutPatterns), others: sumByStanding(marked) },
  };
}

/** What reporters said of all mail of a range. */
export async function readResults(
  reader: Reader,
  query: RangeQuery,
): Promise<MailResults & Counted> {
  const { summed, counted } = await sumRange(reader, query);
  const patterns = new Map<string, number>();
  for (const source of summed.sources.values()) addPatterns(patterns, source.patterns);
  return { ...toMailResults(patterns, summed.reporters), counted };
}

/** By address, of those that sent something. */
export type PatternsOfAddresses = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What reporters said of some addresses. */
export async function readPatterns(
  reader: Reader,
  { addresses, ...query }: RangeQuery & { readonly addresses: readonly string[] },
): Promise<Counted & { readonly patterns: PatternsOfAddresses }> {
  const { summed, counted } = await sumRange(reader, query);
  const patterns = new Map<string, ReadonlyMap<string, number>>();
  for (const address of addresses) {
    const source = summed.sources.get(address);
    if (source !== undefined) patterns.set(address, source.patterns);
  }
  return { patterns, counted };
}
