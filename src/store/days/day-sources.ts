import { sql } from 'kysely';
import type { Day, Instant } from '../../domain/instant.ts';
import { addUp, type Counts } from '../../domain/pass-rate.ts';
import type { Belief } from '../../domain/reports/authentication.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import { findReporterName } from '../../domain/reports/reporters.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import {
  addReport,
  addSource,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../../domain/sources/day-sources.ts';
import { packSources, unpackSources } from '../../domain/sources/stored-sources.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { isOfDomain, lockDomain } from '../lists/heads.ts';
import { BELIEF } from './belief.ts';
import { type DaysQuery, IS_DMARC, JUDGED_VERSION, selectDays } from './believed.ts';
import { toBounds } from './views.ts';

/*
 * The sources of a day are a cache in the day's rows: null, or what cannot be read, means that they are counted from the
 * reports of the row. Whatever changes a row empties it, and anybody may.
 */

/** Reports of a domain's day that are believed alike. */
export type DomainDay = {
  readonly domainId: string;
  readonly day: Day;
  readonly belief: Belief;
};

export type DayRow = RowOfQuery<typeof daysOf>;

/** What a view counts of a range, oldest day first: a row has all its messages, exactly, and the cache of its sources. */
export const daysOf = prepareQuery((db, param: Param<DaysQuery>) =>
  selectDays(db, param)
    .select(['day', 'belief', 'messages', 'aligned', 'sources'])
    .orderBy('day')
    .orderBy('belief'),
);

/** The sources of days that a reader had to count, and the version of the domain's reports that it counted. */
export interface CountedDays {
  readonly domainId: string;
  readonly version: string;
  readonly days: (Pick<DayRow, 'day' | 'belief'> & { readonly sources: Uint8Array })[];
}

/** @internal Tests read the caches of rows that no view counts. */
export function* planSources(
  { day, belief, sources }: Omit<DayRow, 'messages' | 'aligned'>,
  counted: CountedDays,
): Plan<readonly DaySource[]> {
  const kept = sources === null ? undefined : unpackSources(sources);
  if (kept !== undefined) return kept;
  const found = yield* countDay({ domainId: counted.domainId, day, belief });
  counted.days.push({ day, belief, sources: packSources(found) });
  return found;
}

/** A day of a view: all its messages, exactly, and its largest sources. */
interface DayOfView extends Counts {
  readonly day: Day;
  readonly sources: readonly DaySource[];
}

/** Takes the days of a range that a view counts something of, oldest first, one after the other: many fill the memory. */
export function* planDays(
  query: DaysQuery,
  counted: CountedDays,
  take: (day: DayOfView) => void,
): Plan<void> {
  for (const [day, rows] of Map.groupBy(yield* ask(daysOf(query)), ({ day }) => day)) {
    const read: (readonly DaySource[])[] = [];
    for (const row of rows) read.push(yield* planSources(row, counted));
    take({ day, ...addUp(rows), sources: merge(read) });
  }
}

export function sumMessages(all: Iterable<{ readonly messages: number }>): number {
  let sum = 0;
  for (const { messages } of all) sum = addSafely(sum, messages);
  return sum;
}

/** What other beliefs have of a day is added up. */
function merge([first = [], ...others]: (readonly DaySource[])[]): readonly DaySource[] {
  if (others.length === 0) return first;
  const sums: SourceSums = new Map();
  for (const source of [first, ...others].flat()) addSource(sums, source);
  return keepLargest(sums);
}

/** Counting so many takes 200 ms. A day with more has those of its largest reports; the others' messages have no address. */
const MAX_RECORDS = 100_000;
const REPORTS_AT_ONCE = 100;

/** Counts sources from the reports of a row. */
export function* countDay({ domainId, day, belief }: DomainDay): Plan<readonly DaySource[]> {
  const sums: SourceSums = new Map();
  const bounds = { domainId, ...toBounds(day) };
  const largest = yield* ask(largestOf({ ...bounds, belief }));
  let left = MAX_RECORDS;
  for (let i = 0; i < largest.length && left > 0; i += REPORTS_AT_ONCE) {
    const seqs = JSON.stringify(largest.slice(i, i + REPORTS_AT_ONCE).map(({ seq }) => seq));
    for (const report of yield* ask(contentsOf({ domainId, seqs }))) {
      if (left <= 0) break;
      // Damaged content counts nothing.
      const { records = [] } = findContent(report.content) ?? {};
      addReport(sums, { reporter: findReporterName(report), records });
      left -= 1 + records.length;
    }
  }
  return keepLargest(sums);
}

const largestOf = prepareQuery(
  (db, param: Param<{ domainId: string; belief: Belief; first: Instant; last: Instant }>) =>
    db
      .selectFrom('report')
      .select('seq')
      .where(isOfDomain(param('domainId')))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(BELIEF, '=', param('belief'))
      .where(IS_DMARC)
      .orderBy('total_messages', 'desc')
      .orderBy('seq')
      .limit(MAX_RECORDS),
);

const contentsOf = prepareQuery((db, param: Param<{ domainId: string; seqs: string }>) =>
  db
    .selectFrom('report')
    .select(['reporter_org', 'reporter_email', 'content'])
    .where(isOfDomain(param('domainId')))
    .where(dialectOf(db).isIn(sql.ref('seq'), param('seqs'), 'bigint'))
    .orderBy('total_messages', 'desc')
    .orderBy('seq'),
);

/** One transaction stores so many days, and writes some kilobytes for each. */
const DAYS_AT_ONCE = 32;

/** Stores what was counted, unless the domain's reports have changed since. */
export async function storeSources(
  db: Db,
  { domainId, version, days }: CountedDays,
): Promise<void> {
  for (let from = 0; from < days.length; from += DAYS_AT_ONCE)
    await db.write(async (tx) => {
      await lockDomain(tx, domainId);
      const domain = tx
        .selectFrom('domain')
        .select(JUDGED_VERSION.as('now'))
        .where('id', '=', domainId);
      if ((await domain.executeTakeFirst())?.now !== version) return;
      for (const { sources, ...row } of days.slice(from, from + DAYS_AT_ONCE))
        await tx
          .updateTable('domain_day')
          .set({ sources })
          .where(({ and }) => and({ domain_id: domainId, ...row }))
          .execute();
    });
}
