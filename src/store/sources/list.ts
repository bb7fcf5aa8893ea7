import type { Day, DayRange } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import type { Mark } from '../../domain/sources/source.ts';
import { planDomain } from '../accounts/overview.ts';
import { ask, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { byFailed, type SourceSum, sumSources } from './days.ts';
import { type Marks, marksOf, toMarks } from './marks.ts';
import { listUnsummed, planParts } from './months.ts';

export interface SourceQuery {
  readonly range: DayRange;
  /** Only addresses of which a message failed. */
  readonly failingOnly: boolean;
  /** Only addresses that have this mark, or none; undefined: any. */
  readonly mark?: Mark | 'unmarked' | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface SourceList {
  /** Whether a report of the range is stored, also when it counts no message. */
  readonly hasReports: boolean;
  /** How many addresses match. */
  readonly total: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  /** Most failed messages first, then most messages, then by address. */
  readonly sources: readonly SourceSum[];
  /** Messages of the range that belong to no address that is kept: a day keeps its 1,000 largest. */
  readonly unlisted: number;
  readonly marks: Marks;
  /** Months that are to be summed (months.ts). */
  readonly unsummed: readonly Day[];
}

/** Reads a row for each month of the range that is summed, and for each other day. Throws `not_found` when the account has no such domain. */
export async function readSources(
  reader: Reader,
  scope: DomainOfAccount,
  { range, failingOnly, mark, limit, offset }: SourceQuery,
): Promise<SourceList> {
  const { domainId } = scope;
  const { parts, marks } = await reader.readPlan(function* () {
    yield* planDomain(scope);
    const parts = yield* planParts({ domainId, ...range });
    return { parts, marks: toMarks(yield* ask(marksOf({ domainId }))) };
  });
  const { sums, damaged } = await sumSources(parts);
  const isListed = ({ address, messages, aligned }: SourceSum) =>
    (!failingOnly || messages > aligned) &&
    (mark === undefined || mark === (marks.get(address)?.mark ?? 'unmarked'));
  const matching = sums.filter(isListed).sort(byFailed);
  const messages = sumOf(parts);
  return {
    hasReports: parts.length > 0,
    total: matching.length,
    messages,
    sources: matching.slice(offset, offset + limit),
    unlisted: Math.max(0, messages - sumOf(sums)),
    marks,
    unsummed: listUnsummed(parts, range.from, damaged),
  };
}

function sumOf(counts: readonly { readonly messages: number }[]): number {
  return counts.reduce((sum, { messages }) => addSafely(sum, Number(messages)), 0);
}
