import { BEGIN_OF_TIME, type Day, END_OF_TIME, toDay } from '../../domain/instant.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import { type DaysQuery, selectDays } from './believed.ts';

/** The column that orders a domain's reports by their arrival or correction. */
export const ORDER_OF_ARRIVAL = 'seq';

type ViewDaysQuery = DaysQuery & { limit: number };

/** undefined when there is none. */
export function* planNewestDay(of: Pick<DaysQuery, 'domainId' | 'view'>): Plan<Day | undefined> {
  const all = { from: toDay(BEGIN_OF_TIME), to: toDay(END_OF_TIME) };
  return (yield* ask(latestDays({ ...of, ...all, limit: 1 })))[0]?.day;
}

/** The latest days that have reports in a view, newest first. */
export const latestDays = prepareQuery((db, param: Param<ViewDaysQuery>) =>
  selectDays(db, param)
    .select(['day', sumOf('messages').as('messages'), sumOf('aligned').as('aligned')])
    .groupBy('day')
    .orderBy('day', 'desc')
    .limit(param('limit')),
);

/** The instants between which reports of a day begin. */
export function toBounds(day: Day) {
  return { first: `${day}T00:00:00Z`, last: `${day}T23:59:59Z` };
}
