import type { DayRange } from '../../domain/day-range.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { ask, type Plan } from '../connection/plan.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import {
  type ChosenSources,
  planList,
  planTotals,
  type SourceCounts,
  type SourceList,
  toSourceCounts,
} from './list.ts';
import { SUMS, selectParts, sumOf } from './parts.ts';
import { planCover, toLists } from './periods.ts';
import { RANKED_WITH_SUMS } from './ranked.ts';
import { type DomainScope, requireDomain } from './scope.ts';

/** How many addresses are grouped, at most. */
const MAX_GROUPED = 5_000;

/** The first addresses of a range for a page that groups them, in the same order. */
export async function readSourcesForGroups(
  reader: Reader,
  scope: DomainScope,
  chosen: ChosenSources,
): Promise<SourceList<SourceCounts>> {
  return await reader.readPlan(() => planForGroups(scope, chosen));
}

function* planForGroups(scope: DomainScope, chosen: ChosenSources): Plan<SourceList<SourceCounts>> {
  const { mark, failingOnly, range } = chosen;
  const all = mark === undefined ? yield* planAll(scope, range) : undefined;
  if (all === undefined) {
    const wanted = { ...chosen, limit: MAX_GROUPED, offset: 0 };
    const ranked = yield* planList(scope, wanted, RANKED_WITH_SUMS);
    return { ...ranked, sources: ranked.sources.map(toSourceCounts) };
  }
  const hasFailed = ({ messages, aligned }: SourceCounts) => messages > aligned;
  const sources = failingOnly ? all.sources.filter(hasFailed) : all.sources;
  return { ...all, sources: sources.toSorted(byFailures), total: sources.length };
}

/** Days that are not summed: with more, a range may have hundreds of thousands of addresses. */
const MAX_UNSUMMED = 31;

/** All addresses of a range, in no order, when they are few: SQLite ranks them at a third of the whole cost. */
function* planAll(scope: DomainScope, range: DayRange): Plan<SourceList<SourceCounts> | undefined> {
  yield* requireDomain(scope);
  const { domainId } = scope;
  const cover = yield* planCover(domainId, range);
  if (cover.days.length > MAX_UNSUMMED) return undefined;
  const rows = yield* ask(allOfRange({ domainId, ...toLists(cover), limit: MAX_GROUPED + 1 }));
  if (rows.length > MAX_GROUPED) return undefined;
  const sources = rows.map(toSourceCounts);
  const listed = sources.reduce((sum, { messages }) => addSafely(sum, messages), 0);
  return { ...(yield* planTotals(domainId, range, listed)), sources, total: sources.length };
}

type AllOfRange = { domainId: string; days: string; periods: string; limit: number };

/** @internal A test reads its query plan. */
export const allOfRange = prepareQuery<AllOfRange, SourceCounts>((db, param) => {
  const lists = { domainId: param('domainId'), days: param('days'), periods: param('periods') };
  return db
    .selectFrom(selectParts(db, lists, SUMS).as('part'))
    .select('address')
    .select(SUMS.map((column) => sumOf(column).as(column)))
    .groupBy('address')
    .limit(param('limit'));
});

/** In the order of the ranked list. */
function byFailures(a: SourceCounts, b: SourceCounts): number {
  const failures = b.messages - b.aligned - (a.messages - a.aligned);
  return failures || b.messages - a.messages || (a.address < b.address ? -1 : 1);
}
