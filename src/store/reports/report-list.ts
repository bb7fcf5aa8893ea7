import { type Kysely, sql } from 'kysely';
import type { Day, Instant } from '../../domain/instant.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { reportList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';
import type { ReportRow } from './reports.ts';

/*
 * A domain's reports in a range of days, for a settings page: newest window first, then latest arrival, in the API's
 * order. A page begins after a given report, so its cost depends on its length only. The reports of one reporter, or of one
 * kind of sender, are searched in a limited number of reports, because they have no index.
 */

/** How many reports are searched for one page of a reporter, and counted by reporter. */
export const MAX_SEARCHED = 5_000;
const MAX_REPORTERS = 50;

/** A report's position in the order of the list. */
export interface ReportKey {
  readonly begin: Instant;
  readonly seq: number;
}

export interface ListedReport extends ReportRow {
  readonly seq: number;
  /** The domain as which its mail was authenticated; empty when it was not; null for a file. */
  readonly authenticated: string | null;
}

/** Reports whose mails were authenticated, those whose were not, and files. */
export const SENDERS = ['authenticated', 'not_authenticated', 'file'] as const;
export type Sender = (typeof SENDERS)[number];

/** An organisation's name; null for reporters without one. */
export type Reporter = string | null;

export interface ReportPageQuery {
  readonly domainId: string;
  readonly from: Day;
  readonly to: Day;
  /** undefined: every reporter. */
  readonly reporter: Reporter | undefined;
  /** undefined: every sender. */
  readonly sender: Sender | undefined;
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

function* planPage(query: ReportPageQuery): Plan<ReportPage> {
  const { domainId, from, to, start } = query;
  const [sum] = yield* ask(totalOf({ id: reportList(domainId), from, to }));
  const total = sum?.total ?? 0;
  const reporters = yield* ask(reportersOf(toBounds({ ...query, start: undefined })));
  const isNewer = start?.direction === 'newer';
  const { reports, end } = yield* planRows(query, isNewer);
  const [first, last] = [reports[0], reports.at(-1)];
  // On the side that the user comes from there is always a page. When this page is empty, it begins with the start.
  const edges = isNewer
    ? { newer: end, older: last ? toKey(last) : shift(start.key, 1) }
    : { newer: start && (first ? toKey(first) : shift(start.key, -1)), older: end };
  return {
    reports,
    ...edges,
    total,
    reporters,
    hasMore: total > MAX_SEARCHED,
  };
}

/** The reports of a page, and the one after which the next page begins in the direction of reading. */
function* planRows(
  query: ReportPageQuery,
  isNewer: boolean,
): Plan<{ reports: readonly ListedReport[]; end: ReportKey | undefined }> {
  const { reporter = null, sender = null, limit } = query;
  const bounds = toBounds(query);
  const direction = isNewer ? 'asc' : 'desc';
  const asked = { ...bounds, limit: limit + 1 };
  const { all, matching, lastSearched } = QUERIES[direction];
  const isAnyReporter = query.reporter === undefined ? 1 : 0;
  const isFiltered = isAnyReporter === 0 || sender !== null;
  const found = yield* ask(
    isFiltered ? matching({ ...asked, isAnyReporter, reporter, sender }) : all(asked),
  );
  const page = found.slice(0, limit);
  const reports = isNewer ? page.toReversed() : page;
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) return { reports, end: toKey(last) };
  if (!isFiltered) return { reports, end: undefined };
  const [end] = yield* ask(lastSearched(bounds));
  return { reports, end };
}

/** The position next to a report's, so that a page that begins after it begins with that report. */
function shift({ begin, seq }: ReportKey, by: 1 | -1): ReportKey {
  return { begin, seq: Math.max(0, seq + by) };
}

const toKey = ({ begin_date, seq }: ListedReport): ReportKey => ({ begin: begin_date, seq });

/** The positions between which reports are searched, both excluded. */
type Bounds = {
  domainId: string;
  sinceBegin: Instant;
  sinceSeq: number;
  untilBegin: Instant;
  untilSeq: number;
};

function toBounds({ domainId, from, to, start }: ReportPageQuery): Bounds {
  const lower = { begin: `${from}T00:00:00Z`, seq: 0 };
  const upper = { begin: `${to}T23:59:59Z`, seq: Number.MAX_SAFE_INTEGER };
  const since = start?.direction === 'newer' ? later(start.key, lower) : lower;
  const until = start?.direction === 'older' ? earlier(start.key, upper) : upper;
  return {
    ...{ domainId, sinceBegin: since.begin, sinceSeq: since.seq },
    ...{ untilBegin: until.begin, untilSeq: until.seq },
  };
}

/** The start comes from a URL, so it may be outside the range. */
const later = (a: ReportKey, b: ReportKey): ReportKey => (a.begin >= b.begin ? a : b);
const earlier = (a: ReportKey, b: ReportKey): ReportKey => (a.begin <= b.begin ? a : b);

const COLUMNS = [
  'id',
  'seq',
  'reporter_org',
  'reporter_email',
  'authenticated',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
] as const;

type Direction = 'asc' | 'desc';

type Wanted = { limit: number; isAnyReporter: 0 | 1; reporter: Reporter; sender: Sender | null };

/** The sender of a report, in a query of reports. */
const SENDER = sql<Sender>`case when authenticated is null then 'file'
  when authenticated = '' then 'not_authenticated' else 'authenticated' end`;

function selectBetween<P extends Bounds>(
  db: Kysely<Tables>,
  param: Param<P>,
  direction: Direction,
) {
  return db
    .selectFrom('report')
    .where('domain_id', '=', param('domainId'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '>', tuple(param('sinceBegin'), param('sinceSeq'))),
    )
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '<', tuple(param('untilBegin'), param('untilSeq'))),
    )
    .orderBy('begin_date', direction)
    .orderBy('seq', direction);
}

function prepareRows(direction: Direction) {
  return {
    all: prepareQuery<Bounds & { limit: number }, ListedReport>((db, param) =>
      selectBetween(db, param, direction).select(COLUMNS).limit(param('limit')),
    ),
    matching: prepareQuery<Bounds & Wanted, ListedReport>((db, param) =>
      db
        .selectFrom(
          selectBetween(db, param, direction).select(COLUMNS).limit(MAX_SEARCHED).as('searched'),
        )
        .select(COLUMNS)
        .where(({ eb, or }) =>
          or([
            eb(param('isAnyReporter'), '=', 1),
            eb('reporter_org', 'is not distinct from', param('reporter')),
          ]),
        )
        .where(SENDER, '=', ({ fn }) => fn.coalesce(param('sender'), SENDER))
        .orderBy('begin_date', direction)
        .orderBy('seq', direction)
        .limit(param('limit')),
    ),
    /** The last report that is searched for a page of a reporter; none when all reports were searched. */
    lastSearched: prepareQuery<Bounds, ReportKey>((db, param) =>
      selectBetween(db, param, direction)
        .select(['begin_date as begin', 'seq'])
        .limit(1)
        .offset(MAX_SEARCHED - 1),
    ),
  };
}

/** @internal Tests look at their plans. */
export const QUERIES = { asc: prepareRows('asc'), desc: prepareRows('desc') };

const totalOf = prepareQuery((db, param: Param<{ id: string; from: Day; to: Day }>) =>
  db
    .selectFrom('domain_day')
    .select(({ fn }) => fn.sum<number | null>('reports').as('total'))
    .where('domain_id', '=', param('id'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);

/** Tests look at its plan. */
export const reportersOf = prepareQuery((db, param: Param<Bounds>) =>
  db
    .selectFrom(
      selectBetween(db, param, 'desc').select('reporter_org').limit(MAX_SEARCHED).as('searched'),
    )
    .select(({ fn }) => ['reporter_org as reporter', fn.countAll<number>().as('reports')])
    .groupBy('reporter_org')
    .orderBy('reports', 'desc')
    .orderBy('reporter_org')
    .limit(MAX_REPORTERS),
);
