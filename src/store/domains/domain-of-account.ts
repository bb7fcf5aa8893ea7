import type { Instant } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { BELIEF, IS_DMARC, isInView } from '../days/believed.ts';
import { planNewestDay, toBounds } from '../days/views.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';

export type NewestReport = RowOfQuery<typeof newestReport>;

/** The newest report that a view counts; undefined when there is none. */
export function* planNewestReport(of: { domainId: string; view: View }) {
  const day = yield* planNewestDay(of);
  return day === undefined ? undefined : (yield* ask(newestReport({ ...of, ...toBounds(day) })))[0];
}

const newestReport = prepareQuery(
  (db, param: Param<{ domainId: string; view: View; first: Instant; last: Instant }>) =>
    db
      .selectFrom('report')
      .select(['id', 'content'])
      .where('domain_id', '=', param('domainId'))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(isInView(param('view'), BELIEF))
      .where(IS_DMARC)
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(1),
);
