import { type Expression, type SqlBool, sql } from 'kysely';
import type { Counts } from '../../domain/alerts/rate.ts';
import type { Day, Instant } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { DOUBTFUL } from '../migrations/0001-reports.ts';

/*
 * Days as alerts look at them (domain/reports/authentication.ts). A day all of whose reports a view counts has the day's
 * sums; others are counted from the rows, so that nobody who sends reports without end brings a sum to where it stops.
 */

/** The column that orders a domain's reports by their arrival or correction. */
export const ORDER_OF_ARRIVAL = 'seq';

/** A report of no established reporter, nor of a file. Written as in the index of such reports, so that it is used. */
export const isDoubtful = sql<SqlBool>`${sql.raw(DOUBTFUL)}`;

/** What a view does not count of a day. */
const LEFT_OUT: Readonly<Record<View, Expression<SqlBool>>> = {
  established: isDoubtful,
  undisputed: sql<SqlBool>`(${isDoubtful} and authenticated = 'disputed')`,
};

export function isCounted(view: View): Expression<SqlBool> {
  return sql<SqlBool>`(authenticated is null or not ${LEFT_OUT[view]})`;
}

export interface ViewDay extends Counts {
  readonly day: Day;
  /** Whether the view counts all reports of the day. */
  readonly isWhole: boolean;
}

interface ViewDaysQuery {
  readonly domainId: string;
  readonly view: View;
  readonly from: Day;
  readonly to: Day;
  readonly limit: number;
}

/** The latest days that have reports in a view, newest first. */
export function* planViewDays({ domainId, view, ...range }: ViewDaysQuery): Plan<ViewDay[]> {
  const [first, last] = [toBounds(range.from).first, toBounds(range.to).last];
  const found = yield* ask(latestDays[view]({ domainId, ...range, first, last }));
  const days: ViewDay[] = [];
  for (const { day, left_out, ...counts } of found) {
    const isWhole = left_out === 0;
    days.push({ day, isWhole, ...(isWhole ? counts : yield* planSum({ domainId, day, view })) });
  }
  return days;
}

type LatestQuery = {
  domainId: string;
  from: Day;
  to: Day;
  first: Instant;
  last: Instant;
  limit: number;
};

const prepareLatest = (view: View) =>
  prepareQuery((db, param: Param<LatestQuery>) => {
    const leftOut = db
      .selectFrom('report')
      .select(sql<Day>`date(begin_date)`.as('day'))
      .select(({ fn }) => fn.countAll<number>().as('reports'))
      .where('domain_id', '=', param('domainId'))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(LEFT_OUT[view])
      .groupBy(sql`date(begin_date)`)
      .as('o');
    const count = sql<number>`coalesce(o.reports, 0)`;
    return db
      .selectFrom('domain_day as d')
      .leftJoin(leftOut, 'o.day', 'd.day')
      .select(['d.day', 'messages', 'aligned', count.as('left_out')])
      .where('domain_id', '=', param('domainId'))
      .where('d.day', '>=', param('from'))
      .where('d.day', '<=', param('to'))
      .where('d.reports', '>', count)
      .orderBy('d.day', 'desc')
      .limit(param('limit'));
  });

/** @internal A test reads their query plans. */
export const latestDays = {
  established: prepareLatest('established'),
  undisputed: prepareLatest('undisputed'),
};

type DayOfView = { readonly domainId: string; readonly day: Day; readonly view: View };

function* planSum({ domainId, day, view }: DayOfView): Plan<Counts> {
  const [sum] = yield* ask(sumOfDay[view]({ domainId, ...toBounds(day) }));
  return { messages: toCount(sum?.messages), aligned: toCount(sum?.aligned) };
}

const prepareSum = (view: View) =>
  prepareQuery((db, param: Param<{ domainId: string; first: Instant; last: Instant }>) =>
    db
      .selectFrom('report')
      .select([sumOf('total_messages').as('messages'), sumOf('aligned_messages').as('aligned')])
      .where('domain_id', '=', param('domainId'))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(isCounted(view)),
  );

const sumOfDay = { established: prepareSum('established'), undisputed: prepareSum('undisputed') };

/** Floating-point numbers are exact up to where a sum stops, and no engine's sum of them is an error. */
export const sumOf = (column: 'total_messages' | 'aligned_messages') =>
  sql<number | null>`sum(cast(${sql.ref(column)} as double precision))`;

/** It stops at 2^53 − 1, as every count. */
export function toCount(sum: number | null | undefined): number {
  return Math.min(sum ?? 0, Number.MAX_SAFE_INTEGER);
}

/** The instants between which reports of a day begin. */
export function toBounds(day: Day) {
  return { first: `${day}T00:00:00Z`, last: `${day}T23:59:59Z` };
}
