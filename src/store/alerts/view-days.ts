import { type Expression, sql } from 'kysely';
import type { View } from '../../domain/reports/authentication.ts';
import type { Queries } from '../engine/database.ts';

/** The days that have reports in a view of alerts, with what these add up to (documents/day-counts.ts). */
export function selectViewDays(db: Queries, view: Expression<View>) {
  return db.selectFrom(
    db
      .selectFrom('domain_day as d')
      .leftJoin('alert_day as a', (join) =>
        join
          .onRef('a.domain_id', '=', 'd.domain_id')
          .onRef('a.day', '=', 'd.day')
          .on('a.view', '=', view),
      )
      .select(['d.domain_id', 'd.day'])
      .select(({ fn }) => [
        fn.coalesce('a.reports', 'd.reports').as('reports'),
        fn.coalesce('a.messages', 'd.messages').as('messages'),
        fn.coalesce('a.aligned', 'd.aligned').as('aligned'),
      ])
      .select(
        sql<Uint8Array | null>`case when a.day is null then d.sources else a.sources end`.as(
          'sources',
        ),
      )
      .where(({ fn, eb }) => eb(fn.coalesce('a.reports', 'd.reports'), '>', 0))
      .as('v'),
  );
}
