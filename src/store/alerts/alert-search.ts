import { sql } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Sort } from '../../domain/sort.ts';
import type { Queries } from '../engine/database.ts';
import { contains, MAX_SEARCHED, toLikePattern } from '../lists/search.ts';
import { type AlertOfAccount, selectAccountAlerts } from './alerts.ts';

const SORTED_BY = {
  fired: sql.ref('fired_at'),
  domain: sql.ref('domain'),
  type: sql.ref('type'),
} as const;

export type AlertColumn = keyof typeof SORTED_BY;
export const ALERT_COLUMNS = Object.keys(SORTED_BY) as AlertColumn[];

export interface AlertSearch {
  readonly state: 'open' | 'resolved' | undefined;
  /** What its domain, type or context contains; empty for every alert. */
  readonly search: string;
  readonly from: Instant | undefined;
  /** Exclusive. */
  readonly until: Instant | undefined;
}

interface AlertPage {
  readonly sort: Sort<AlertColumn>;
  readonly limit: number;
  readonly skip: number;
}

export function listFoundAlerts(
  db: Queries,
  accountId: string,
  { sort, limit, skip, ...search }: AlertSearch & AlertPage,
): Promise<AlertOfAccount[]> {
  const searched = selectSearched(db, accountId, search).limit(MAX_SEARCHED).as('searched');
  return db
    .selectFrom(searched)
    .selectAll()
    .where(contains(['domain', 'type', 'context'], toLikePattern(search.search)))
    .orderBy(SORTED_BY[sort.column], sort.order)
    .orderBy('fired_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(skip)
    .execute();
}

export async function hasMoreAlerts(db: Queries, accountId: string, search: AlertSearch) {
  const next = selectSearched(db, accountId, search).offset(MAX_SEARCHED).limit(1);
  return (await next.executeTakeFirst()) !== undefined;
}

function selectSearched(db: Queries, accountId: string, { state, from, until }: AlertSearch) {
  return selectAccountAlerts(db, accountId)
    .$if(from !== undefined, (query) => query.where('fired_at', '>=', from as Instant))
    .$if(until !== undefined, (query) => query.where('fired_at', '<', until as Instant))
    .$if(state !== undefined, (query) =>
      query.where('resolved_at', state === 'open' ? 'is' : 'is not', null),
    );
}
