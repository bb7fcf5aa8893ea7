import type { Counts } from '../../domain/alerts/rate.ts';
import { BEGIN_OF_TIME, type Day, END_OF_TIME, toDay } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import { isInView } from './believed.ts';

/** The column that orders a domain's reports by their arrival or correction. */
export const ORDER_OF_ARRIVAL = 'seq';

export interface ViewDay extends Counts {
  readonly day: Day;
}

type ViewDaysQuery = { domainId: string; view: View; from: Day; to: Day; limit: number };

/** The latest days that have reports in a view, newest first. */
export function planViewDays(query: ViewDaysQuery): Plan<ViewDay[]> {
  return ask(latestDays(query));
}

/** undefined when there is none. */
export function* planNewestDay(
  of: Pick<ViewDaysQuery, 'domainId' | 'view'>,
): Plan<Day | undefined> {
  const all = { from: toDay(BEGIN_OF_TIME), to: toDay(END_OF_TIME) };
  return (yield* planViewDays({ ...of, ...all, limit: 1 }))[0]?.day;
}

export const latestDays = prepareQuery((db, param: Param<ViewDaysQuery>) =>
  db
    .selectFrom('domain_day')
    .select(['day', sumOf('messages').as('messages'), sumOf('aligned').as('aligned')])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .where(isInView(param('view')))
    .groupBy('day')
    .orderBy('day', 'desc')
    .limit(param('limit')),
);

/** The instants between which reports of a day begin. */
export function toBounds(day: Day) {
  return { first: `${day}T00:00:00Z`, last: `${day}T23:59:59Z` };
}
