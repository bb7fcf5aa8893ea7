import { isDeepStrictEqual } from 'node:util';
import type { Day } from '../../domain/instant.ts';
import type { Sort } from '../../domain/sort.ts';
import type { RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import { MAX_SEARCHED, toLikePattern } from '../lists/search.ts';
import { reportList } from '../lists/timeline.ts';
import {
  type Bounds,
  type ListedReport,
  QUERIES,
  type ReporterName,
  type ReportKey,
  reportCountOf,
  reportersOf,
  type SenderKind,
  SORTED,
  type SortColumn,
} from './report-list-queries.ts';

/*
 * A domain's reports in a range of days, for a settings page: newest window first, then latest arrival, in the API's
 * order. A page begins after a given report, so its cost depends on its length only. What is searched for, and what the
 * list is sorted by, has no index: a limited number of reports is looked at.
 */

export interface ReportPageQuery {
  readonly domainId: string;
  readonly from: Day;
  readonly to: Day;
  /** undefined: every reporter. */
  readonly reporter: ReporterName | undefined;
  /** undefined: every sender. */
  readonly sender: SenderKind | undefined;
  /** What one of a report's texts contains; empty for every report. */
  readonly search: string;
  /** A page of the latest reports only, from 1. Then there is no start. */
  readonly sort?: (Sort<SortColumn> & { readonly page: number }) | undefined;
  /** The page has the reports that are older, or newer, than this one; without it, the newest. */
  readonly start?: { readonly direction: 'older' | 'newer'; readonly key: ReportKey } | undefined;
  readonly limit: number;
}

export interface ReportPage {
  /** In the order of the list. */
  readonly reports: readonly ListedReport[];
  /** The reports after which the next older and newer pages begin; undefined when there is no such page. */
  readonly older: ReportKey | undefined;
  readonly newer: ReportKey | undefined;
  /** Whether a sorted list has another page. */
  readonly hasNextPage: boolean;
  /** How many reports the range has, of all reporters. */
  readonly total: number;
  readonly reporters: readonly ReporterCount[];
  /** Whether the range has more reports than were counted by reporter. */
  readonly hasMore: boolean;
}

export type ReporterCount = RowOfQuery<typeof reportersOf>;

/** A page of the reports of a domain. The caller has checked that it is the account's. */
export function readReportPage(reader: Reader, query: ReportPageQuery): Promise<ReportPage> {
  return reader.readPlan(() => planPage(query));
}

/** The latest reports of a domain. The caller has checked that it is the account's. */
export function listLatestReports(
  reader: Reader,
  { domainId, limit }: Pick<ReportPageQuery, 'domainId' | 'limit'>,
): Promise<readonly ListedReport[]> {
  const bounds = toBounds({ domainId, from: '1970-01-01', to: '9999-12-31' });
  return reader.readAll(QUERIES.desc.all({ ...bounds, limit }));
}

function* planPage(query: ReportPageQuery): Plan<ReportPage> {
  const [sum] = yield* ask(reportCountOf(toDays(query)));
  const total = sum?.total ?? 0;
  const reporters = yield* ask(reportersOf(toBounds({ ...query, start: undefined })));
  const rows = query.sort === undefined ? yield* planKeyed(query) : yield* planSorted(query);
  return { ...rows, total, reporters, hasMore: total > MAX_SEARCHED };
}

type PageRows = Pick<ReportPage, 'reports' | 'older' | 'newer' | 'hasNextPage'>;

function* planSorted({ sort, ...query }: ReportPageQuery): Plan<PageRows> {
  const { column, order, page } = sort as NonNullable<typeof sort>;
  const { limit } = query;
  const asked = { ...toBounds({ ...query, start: undefined }), ...toWanted(query) };
  const skip = (page - 1) * limit;
  const found = yield* ask(SORTED[column][order]({ ...asked, limit: limit + 1, skip }));
  const reports = found.slice(0, limit);
  return { reports, older: undefined, newer: undefined, hasNextPage: found.length > limit };
}

function* planKeyed(query: ReportPageQuery): Plan<PageRows> {
  const { start } = query;
  const isNewer = start?.direction === 'newer';
  const { reports, end } = yield* planRows(query, isNewer);
  const [first, last] = [reports[0], reports.at(-1)];
  // On the side that the user comes from there is always a page. When this page is empty, it begins with the start.
  const edges = isNewer
    ? { newer: end, older: last ? toKey(last) : shift(start.key, 1) }
    : { newer: start && (first ? toKey(first) : shift(start.key, -1)), older: end };
  return { reports, ...edges, hasNextPage: false };
}

type WholeQuery = Omit<ReportPageQuery, 'start' | 'limit'>;

/** All reports of a list, in its order and in parts, read beside the requests. A sorted list has the latest only. */
export function readParts(
  { aside }: Pick<Store, 'aside'>,
  query: WholeQuery,
): AsyncGenerator<readonly ListedReport[]> {
  return aside.iterate(import.meta.url, iterateParts, query);
}

/** @internal The reader's thread finds it by its name. */
export async function* iterateParts(
  reader: Reader,
  query: WholeQuery,
): AsyncGenerator<readonly ListedReport[]> {
  const { sort } = query;
  if (sort !== undefined) {
    const whole = { ...query, limit: MAX_SEARCHED, sort: { ...sort, page: 1 } };
    const { reports } = await reader.readPlan(() => planSorted(whole));
    for (let i = 0; i < reports.length; i += PER_PART) yield reports.slice(i, i + PER_PART);
    return;
  }
  let start: ReportPageQuery['start'];
  do {
    const part = { ...query, limit: PER_PART, start };
    const { reports, end } = await reader.readPlan(() => planRows(part, false));
    yield reports;
    start = end && { direction: 'older', key: end };
  } while (start !== undefined);
}

const PER_PART = 500;

type Days = Pick<ReportPageQuery, 'domainId' | 'from' | 'to'>;

/** How many reports a range has. */
export async function countReports(reader: Reader, days: Days): Promise<number> {
  const [sum] = await reader.readAll(reportCountOf(toDays(days)));
  return sum?.total ?? 0;
}

const toDays = ({ domainId, from, to }: Days) => ({ id: reportList(domainId), from, to });

/** The reports of a page, and the one after which the next page begins in the direction of reading. */
function* planRows(
  query: ReportPageQuery,
  isNewer: boolean,
): Plan<{ reports: readonly ListedReport[]; end: ReportKey | undefined }> {
  const { limit } = query;
  const bounds = toBounds(query);
  const direction = isNewer ? 'asc' : 'desc';
  const asked = { ...bounds, limit: limit + 1 };
  const { all, matching, lastSearched } = QUERIES[direction];
  const wanted = toWanted(query);
  const isFiltered = !isDeepStrictEqual(wanted, ALL);
  const found = yield* ask(isFiltered ? matching({ ...asked, ...wanted }) : all(asked));
  const page = found.slice(0, limit);
  const reports = isNewer ? page.toReversed() : page;
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) return { reports, end: toKey(last) };
  if (!isFiltered) return { reports, end: undefined };
  const [end] = yield* ask(lastSearched(bounds));
  return { reports, end };
}

type Filters = Pick<ReportPageQuery, 'reporter' | 'sender' | 'search'>;

function toWanted({ reporter, sender, search }: Filters) {
  const isAnyReporter: 0 | 1 = reporter === undefined ? 1 : 0;
  const pattern = toLikePattern(search);
  return { isAnyReporter, reporter: reporter ?? null, sender: sender ?? null, pattern };
}

const ALL = toWanted({ reporter: undefined, sender: undefined, search: '' });

/** The position next to a report's, so that a page that begins after it begins with that report. */
function shift({ begin, seq }: ReportKey, by: 1 | -1): ReportKey {
  return { begin, seq: Math.max(0, seq + by) };
}

const toKey = ({ begin_date, seq }: ListedReport): ReportKey => ({ begin: begin_date, seq });

function toBounds({ domainId, from, to, start }: Days & Pick<ReportPageQuery, 'start'>): Bounds {
  const lower = { begin: `${from}T00:00:00Z`, seq: 0 };
  const upper = { begin: `${to}T23:59:59Z`, seq: Number.MAX_SAFE_INTEGER };
  const since = start?.direction === 'newer' ? later(start.key, lower) : lower;
  const until = start?.direction === 'older' ? earlier(start.key, upper) : upper;
  return {
    domainId,
    sinceBegin: since.begin,
    sinceSeq: since.seq,
    untilBegin: until.begin,
    untilSeq: until.seq,
  };
}

/** The start comes from a URL, so it may be outside the range. */
const later = (a: ReportKey, b: ReportKey): ReportKey => (a.begin >= b.begin ? a : b);
const earlier = (a: ReportKey, b: ReportKey): ReportKey => (a.begin <= b.begin ? a : b);
