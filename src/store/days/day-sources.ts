import { Failure } from '../../domain/failure.ts';
import { BEGIN_OF_TIME, type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import { findReporterName } from '../../domain/reports/reporters.ts';
import {
  addReport,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../../domain/sources/day-sources.ts';
import { packSources, unpackSources } from '../../domain/sources/stored-sources.ts';
import type { Db } from '../engine/database.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { lockDomain } from '../lists/heads.ts';
import { isCounted, toBounds } from './views.ts';

/*
 * The sources of a day are a cache in the day's row: null, or what cannot be read, means that they are counted from the
 * day's reports. Whatever changes a day empties it, and anybody may.
 */

export type DomainDay = { readonly domainId: string; readonly day: Day };

/** A day of a domain that has reports: all its messages, exactly, and the cache of its sources. */
export interface DataDay {
  readonly day: Day;
  readonly messages: number;
  readonly sources: Uint8Array | null;
}

export type DaysQuery = { domainId: string; from: Day; to: Day };

/** The days of a range that have reports, oldest first: at most one row for each day. */
export const daysOf = prepareQuery((db, param: Param<DaysQuery>) =>
  db
    .selectFrom('domain_day')
    .select(['day', 'messages', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day'),
);

/** The latest days with reports before a day, newest first. */
export const daysBefore = prepareQuery(
  (db, param: Param<{ domainId: string; before: Day; limit: number }>) =>
    db
      .selectFrom('domain_day')
      .select(['day', 'messages', 'sources'])
      .where('domain_id', '=', param('domainId'))
      .where('day', '<', param('before'))
      .orderBy('day', 'desc')
      .limit(param('limit')),
);

/** The sources of days that a reader had to count, and the version of the domain's reports that it counted. */
export interface CountedDays {
  readonly domainId: string;
  readonly version: string;
  readonly days: { readonly day: Day; readonly sources: Uint8Array }[];
}

/** Throws `not_found` when the account, if one is given, has no such domain. */
export function* planVersion(domainId: string, accountId?: string): Plan<string> {
  const [domain] = yield* ask(versionOf({ domainId }));
  if (accountId !== undefined && domain?.accountId !== accountId)
    throw new Failure('not_found', 'No such domain.');
  return domain?.version ?? '';
}

export const versionOf = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('domain')
    .select(['reports_version as version', 'account_id as accountId'])
    .where('id', '=', param('domainId')),
);

export function* planSources(
  { day, sources }: Pick<DataDay, 'day' | 'sources'>,
  counted: CountedDays,
): Plan<readonly DaySource[]> {
  const kept = sources === null ? undefined : unpackSources(sources);
  if (kept !== undefined) return kept;
  const found = yield* countDay({ domainId: counted.domainId, day });
  counted.days.push({ day, sources: packSources(found) });
  return found;
}

/** Counting so many takes 200 ms. When a day has more, its first reports are counted. */
const MAX_RECORDS = 100_000;
const REPORTS_AT_ONCE = 100;

/** Counts sources from the day's reports: all of them, or those that a view of alerts counts. */
export function* countDay(
  { domainId, day }: DomainDay,
  view: View | 'all' = 'all',
): Plan<readonly DaySource[]> {
  const sums: SourceSums = new Map();
  const { first, last } = toBounds(day);
  let after = { begin: first, seq: 0 };
  for (let left = MAX_RECORDS; left > 0; ) {
    const reports = yield* ask(reportsOf[view]({ domainId, last, ...after }));
    for (const report of reports) {
      // Damaged content counts nothing.
      const { records = [] } = findContent(report.content) ?? {};
      addReport(sums, { reporter: findReporterName(report), records });
      left -= 1 + records.length;
    }
    const next = reports[REPORTS_AT_ONCE - 1];
    if (next === undefined) break;
    after = { begin: next.begin_date, seq: next.seq };
  }
  return keepLargest(sums);
}

const prepareReports = (view?: View) =>
  prepareQuery(
    (db, param: Param<{ domainId: string; last: Instant; begin: Instant; seq: number }>) =>
      db
        .selectFrom('report')
        .select(['begin_date', 'seq', 'reporter_org', 'reporter_email', 'content'])
        .where('domain_id', '=', param('domainId'))
        .where('begin_date', '<=', param('last'))
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple('begin_date', 'seq'), '>', tuple(param('begin'), param('seq'))),
        )
        .$if(view !== undefined, (all) => all.where(isCounted(view as View)))
        .orderBy('begin_date')
        .orderBy('seq')
        .limit(REPORTS_AT_ONCE),
  );

const reportsOf = {
  all: prepareReports(),
  established: prepareReports('established'),
  undisputed: prepareReports('undisputed'),
};

/** One transaction stores so many days, and writes some kilobytes for each. */
const DAYS_AT_ONCE = 8;

/** Stores what was counted, unless the domain's reports have changed since, or the days are older than `first`. */
export async function storeSources(
  db: Db,
  { domainId, version, days }: CountedDays,
  first: Day = toDay(BEGIN_OF_TIME),
): Promise<void> {
  const kept = days.filter(({ day }) => day >= first);
  for (let from = 0; from < kept.length; from += DAYS_AT_ONCE)
    await db.write(async (tx) => {
      await lockDomain(tx, domainId);
      const domain = tx.selectFrom('domain').select('reports_version').where('id', '=', domainId);
      if ((await domain.executeTakeFirst())?.reports_version !== version) return;
      for (const { day, sources } of kept.slice(from, from + DAYS_AT_ONCE))
        await tx
          .updateTable('domain_day')
          .set({ sources })
          .where('domain_id', '=', domainId)
          .where('day', '=', day)
          .execute();
    });
}
