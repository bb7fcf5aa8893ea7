import { addSafely } from '../../domain/safe-sum.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import {
  type ChosenSources,
  planList,
  planTotals,
  type RankedSource,
  type SourceCounts,
  type SourceList,
  toRankedSource,
  toSourceCounts,
} from './list.ts';
import { SUMS, selectParts, sumOf } from './parts.ts';
import { planParts, type RangeParts, toLists } from './periods.ts';
import { type Column, RANKED, RANKED_WITH_SUMS, type Ranked } from './ranked.ts';
import type { DomainScope } from './scope.ts';

/** How many addresses are grouped, at most. */
const MAX_GROUPED = 5_000;

/** The first addresses of a range for a page that groups them, in the same order. */
export async function readSourcesForGroups(
  reader: Reader,
  scope: DomainScope,
  chosen: ChosenSources,
): Promise<SourceList<SourceCounts>> {
  return await reader.readPlan(() => planForGroups(scope, chosen, WITH_SUMS));
}

/** The same without what only groups add up, for a page that shows one group. */
export async function readSourcesOfGroups(
  reader: Reader,
  scope: DomainScope,
  chosen: ChosenSources,
): Promise<SourceList<RankedSource>> {
  return await reader.readPlan(() => planForGroups(scope, chosen, WITHOUT_SUMS));
}

/** The statements for what is read of an address. */
interface Statements<C extends Column, Row extends RankedSource> {
  readonly ranked: Ranked<C>;
  readonly all: (params: AllOfRange) => BoundQuery<RankedRow<C>>;
  readonly toRow: (row: RankedRow<C>) => Row;
}

type RankedRow<C extends Column> = Readonly<Record<C, number> & { address: string }>;
type AllOfRange = { domainId: string; days: string; periods: string; limit: number };

function* planForGroups<C extends Column, Row extends RankedSource>(
  scope: DomainScope,
  chosen: ChosenSources,
  statements: Statements<C, Row>,
): Plan<SourceList<Row>> {
  const { mark, failingOnly, range } = chosen;
  const parts = yield* planParts(scope, range);
  const all = mark === undefined ? yield* planAll(parts, statements) : undefined;
  if (all === undefined) {
    const wanted = { mark, failingOnly, limit: MAX_GROUPED, offset: 0 };
    const ranked = yield* planList(parts, wanted, statements.ranked);
    return { ...ranked, sources: ranked.sources.map(statements.toRow) };
  }
  const hasFailed = ({ messages, aligned }: RankedSource) => messages > aligned;
  const sources = failingOnly ? all.sources.filter(hasFailed) : all.sources;
  return { ...all, sources: sources.toSorted(byFailures), total: sources.length };
}

/** Days that are not summed: with more, a range may have hundreds of thousands of addresses. */
const MAX_UNSUMMED = 31;

/** All addresses of a range, in no order, when they are few: SQLite ranks them at a third of the whole cost. */
function* planAll<C extends Column, Row extends RankedSource>(
  parts: RangeParts,
  { all, toRow }: Statements<C, Row>,
): Plan<SourceList<Row> | undefined> {
  const { domainId, cover } = parts;
  if (cover.days.length > MAX_UNSUMMED) return undefined;
  const rows = yield* ask(all({ domainId, ...toLists(cover), limit: MAX_GROUPED + 1 }));
  if (rows.length > MAX_GROUPED) return undefined;
  const sources = rows.map(toRow);
  const listed = sources.reduce((sum, { messages }) => addSafely(sum, messages), 0);
  return { ...(yield* planTotals(parts, listed)), sources, total: sources.length };
}

function prepareAll<C extends Column>(columns: readonly C[]) {
  return prepareQuery<AllOfRange, RankedRow<C>>((db, param) => {
    const lists = { domainId: param('domainId'), days: param('days'), periods: param('periods') };
    return db
      .selectFrom(selectParts(db, lists, columns).as('part'))
      .select('address')
      .select(columns.map((column) => sumOf(column).as(column)))
      .groupBy('address')
      .limit(param('limit')) as never;
  });
}

/** @internal A test reads its query plan. */
export const WITH_SUMS: Statements<Column, SourceCounts> = {
  ranked: RANKED_WITH_SUMS,
  all: prepareAll(SUMS),
  toRow: toSourceCounts,
};
const WITHOUT_SUMS: Statements<'messages' | 'aligned', RankedSource> = {
  ranked: RANKED,
  all: prepareAll(['messages', 'aligned']),
  toRow: toRankedSource,
};

/** In the order of the ranked list. */
function byFailures(a: RankedSource, b: RankedSource): number {
  const failures = b.messages - b.aligned - (a.messages - a.aligned);
  return failures || b.messages - a.messages || (a.address < b.address ? -1 : 1);
}
