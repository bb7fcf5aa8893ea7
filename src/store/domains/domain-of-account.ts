import type { Instant } from '../../domain/instant.ts';
import { BELIEF } from '../days/belief.ts';
import { IS_DMARC } from '../days/believed.ts';
import { planNewestDay, toBounds } from '../days/views.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';
import { isOfDomain } from '../lists/heads.ts';

export type NewestReport = RowOfQuery<typeof newestReport>;

/** The newest report that a file has or an established reporter sent, whatever reports count; undefined when there is none. */
export function* planNewestReport(domainId: string) {
  const day = yield* planNewestDay({ domainId, view: 'established' });
  if (day === undefined) return undefined;
  return (yield* ask(newestReport({ domainId, ...toBounds(day) })))[0];
}

const newestReport = prepareQuery(
  (db, param: Param<{ domainId: string; first: Instant; last: Instant }>) =>
    db
      .selectFrom('report')
      .select(['id', 'content'])
      .where(isOfDomain(param('domainId')))
      .where('begin_date', '>=', param('first'))
      .where('begin_date', '<=', param('last'))
      .where(BELIEF, '=', 'established')
      .where(IS_DMARC)
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .limit(1),
);
