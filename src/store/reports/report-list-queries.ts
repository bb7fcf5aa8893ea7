import { type Kysely, sql } from 'kysely';
import type { Day, Instant } from '../../domain/instant.ts';
import type { MailProof } from '../../domain/reports/authentication.ts';
import { IS_UNPROVEN } from '../days/belief.ts';
import { IS_DMARC } from '../days/believed.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { isOfDomain } from '../lists/heads.ts';
import { contains, MAX_SEARCHED } from '../lists/search.ts';
import type { Tables } from '../tables.ts';
import type { ReportItem } from './reports.ts';

const MAX_REPORTERS = 50;

/** A report's position in the order of the list. */
export interface ReportKey {
  readonly begin: Instant;
  readonly seq: number;
}

export interface ListedReport extends ReportItem, MailProof {
  readonly seq: number;
}

/** Reports whose mails were authenticated, those whose were not, and files. */
export const SENDERS = ['authenticated', 'not_authenticated', 'file'] as const;
export type SenderKind = (typeof SENDERS)[number];

/** Its name (`findReporterName`); null for reporters without one. */
export type ReporterName = string | null;

/** What `findReporterName` finds. Without all but “@” at its end, an address ends with its last “@”. */
const REPORTER = sql<ReporterName>`coalesce(reporter_org, nullif(
  substr(reporter_email, length(rtrim(reporter_email, replace(reporter_email, '@', ''))) + 1), ''))`;

/** The positions between which reports are searched, both excluded. */
export type Bounds = {
  domainId: string;
  sinceBegin: Instant;
  sinceSeq: number;
  untilBegin: Instant;
  untilSeq: number;
};

const COLUMNS = [
  'id',
  'seq',
  'reporter_org',
  'reporter_email',
  'authenticated',
  'doubt',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
  'revision',
] as const;

/** Texts of a report that are searched. */
const TEXTS = ['reporter_org', 'reporter_email', 'report_id', 'authenticated'] as const;

type Direction = 'asc' | 'desc';

type Wanted = {
  limit: number;
  isAnyReporter: 0 | 1;
  reporter: ReporterName;
  sender: SenderKind | null;
  /** What `toLikePattern` makes of the text that is searched for. */
  pattern: string;
};

/** The sender of a report, in a query of reports. */
const SENDER = sql<SenderKind>`case when ${IS_UNPROVEN} then 'not_authenticated'
  when authenticated is null then 'file' else 'authenticated' end`;

function selectBetween<P extends Bounds>(
  db: Kysely<Tables>,
  param: Param<P>,
  direction: Direction,
) {
  return db
    .selectFrom('report')
    .where(isOfDomain(param('domainId')))
    .where(IS_DMARC)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '>', tuple(param('sinceBegin'), param('sinceSeq'))),
    )
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '<', tuple(param('untilBegin'), param('untilSeq'))),
    )
    .orderBy('begin_date', direction)
    .orderBy('seq', direction);
}

function selectMatching(db: Kysely<Tables>, param: Param<Bounds & Wanted>, direction: Direction) {
  const searched = selectBetween(db, param, direction)
    .select([...COLUMNS, 'report_id'])
    .limit(MAX_SEARCHED);
  return db
    .selectFrom(searched.as('searched'))
    .select(COLUMNS)
    .where(({ eb, or }) =>
      or([
        eb(param('isAnyReporter'), '=', 1),
        eb(REPORTER, 'is not distinct from', param('reporter')),
      ]),
    )
    .where(SENDER, '=', ({ fn }) => fn.coalesce(param('sender'), SENDER))
    .where(contains(TEXTS, param('pattern')));
}

function prepareRows(direction: Direction) {
  return {
    all: prepareQuery((db, param: Param<Bounds & { limit: number }>) =>
      selectBetween(db, param, direction).select(COLUMNS).limit(param('limit')),
    ),
    matching: prepareQuery((db, param: Param<Bounds & Wanted>) =>
      selectMatching(db, param, direction)
        .orderBy('begin_date', direction)
        .orderBy('seq', direction)
        .limit(param('limit')),
    ),
    /** The last report that is searched for a page of a reporter; none when all reports were searched. */
    lastSearched: prepareQuery((db, param: Param<Bounds>) =>
      selectBetween(db, param, direction)
        .select(['begin_date as begin', 'seq'])
        .limit(1)
        .offset(MAX_SEARCHED - 1),
    ),
  };
}

/** Tests look at their plans. */
export const QUERIES = { asc: prepareRows('asc'), desc: prepareRows('desc') };

/** What the latest reports can be sorted by: nothing but their order has an index. */
const SORTED_BY = {
  reporter: sql`lower(coalesce(${REPORTER}, ''))`,
  begin: sql`begin_date`,
  messages: sql`total_messages`,
  failed: sql`total_messages - aligned_messages`,
  rate: sql`coalesce(aligned_messages * 1.0 / nullif(total_messages, 0), 1)`,
} as const;

export type SortColumn = keyof typeof SORTED_BY;
export const SORT_COLUMNS = Object.keys(SORTED_BY) as SortColumn[];

type SortedQuery = ReturnType<typeof prepareSorted>;

function prepareSorted(column: SortColumn, order: Direction) {
  return prepareQuery((db, param: Param<Bounds & Wanted & { skip: number }>) =>
    selectMatching(db, param, 'desc')
      .orderBy(SORTED_BY[column], order)
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(param('skip')),
  );
}

/** Tests look at their plans. */
export const SORTED = Object.fromEntries(
  SORT_COLUMNS.map((column) => [
    column,
    { asc: prepareSorted(column, 'asc'), desc: prepareSorted(column, 'desc') },
  ]),
) as Readonly<Record<SortColumn, Readonly<Record<Direction, SortedQuery>>>>;

export const reportCountOf = prepareQuery((db, param: Param<{ id: string; from: Day; to: Day }>) =>
  db
    .selectFrom('domain_day')
    .select(({ fn }) => fn.sum<number | null>('reports').as('total'))
    .where('domain_id', '=', param('id'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);

/** How many of the latest reports each reporter sent. */
export const reportersOf = prepareQuery((db, param: Param<Bounds>) =>
  db
    .selectFrom(
      selectBetween(db, param, 'desc')
        .select(REPORTER.as('reporter'))
        .limit(MAX_SEARCHED)
        .as('searched'),
    )
    .select(({ fn }) => ['reporter', fn.countAll<number>().as('reports')])
    .groupBy('reporter')
    .orderBy('reports', 'desc')
    .orderBy('reporter')
    .limit(MAX_REPORTERS),
);
