import type { DayRange } from '../../domain/instant.ts';
import { sumByStanding } from '../../domain/readiness.ts';
import { addPatterns } from '../../domain/sources/day-sources.ts';
import { toMailResults } from '../../domain/sources/mail-results.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { readState, sortFailing, withoutPatterns } from './source-list.ts';
import { type RangeQuery, sumRange } from './summed-range.ts';

interface MailQuery {
  readonly scope: DomainOfAccount;
  readonly range: DayRange;
  /** How many sources are to be judged. */
  readonly limit: number;
}

/** Throws `not_found` when the account has no such domain. */
export async function readMail(reader: Reader, { scope, range, limit }: MailQuery) {
  const state = await readState(reader, scope);
  const { summed, counted } = await sumRange(reader, { ...scope, range }, state.version);
  const all = [...summed.sources.values()];
  const failed = all.filter(({ messages, aligned }) => messages > aligned);
  const failing = sortFailing(failed, limit);
  const others = new Set(all).difference(new Set(failing));
  const marked = [...others].map((one) => ({ ...one, mark: state.marks.get(one.address)?.mark }));
  return {
    ...state,
    version: summed.version,
    counted,
    /** How many sources have failed messages. The sources with most are to be judged. */
    count: failed.length,
    failing: failing.map(withoutPatterns),
    /** What all other sources sent, which nobody judges. */
    others: sumByStanding(marked),
  };
}

export async function readResults(reader: Reader, query: RangeQuery) {
  const { summed, counted } = await sumRange(reader, query);
  const patterns = new Map<string, number>();
  for (const source of summed.sources.values()) addPatterns(patterns, source.patterns);
  return { ...toMailResults(patterns, summed.reporters), counted };
}

/** What reporters said of those addresses that sent something. */
export async function readPatterns(
  reader: Reader,
  { addresses, ...query }: RangeQuery & { readonly addresses: readonly string[] },
) {
  const { summed, counted } = await sumRange(reader, query);
  const patterns = new Map<string, ReadonlyMap<string, number>>();
  for (const address of addresses) {
    const source = summed.sources.get(address);
    if (source !== undefined) patterns.set(address, source.patterns);
  }
  return { patterns, counted };
}
