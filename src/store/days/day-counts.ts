import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type BoundQuery, runAllPrepared } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';
import { findStatedPolicy } from './stated-policy.ts';

interface AddedToDay {
  readonly domainId: string;
  readonly day: Day;
  readonly reports: number;
  readonly messages: number;
  readonly aligned: number;
  /** What the last of the reports states that states one (stated-policy.ts). */
  readonly policy: string | null;
}

/** Adds what reports count to their days, whose sources have to be counted again. */
export function addToDays(added: readonly AddedToDay[]): BoundQuery<unknown>[] {
  return dayUpserts(added.map(({ domainId, ...day }) => ({ domain_id: domainId, ...day })));
}

/** A sum stops at 2^53 − 1, as every count. */
const MAX = sql.lit(Number.MAX_SAFE_INTEGER);

type AddedRow = Omit<Selectable<Tables['domain_day']>, 'sources'>;

const dayUpserts = prepareRows(
  ['domain_id', 'day', 'reports', 'messages', 'aligned', 'policy'],
  (db, rows: readonly RowOf<AddedRow>[]) => {
    const sum = (column: 'messages' | 'aligned') => {
      const [stored, added] = [sql.ref(`domain_day.${column}`), sql.ref(`excluded.${column}`)];
      return sql<number>`case when ${stored} > ${MAX} - ${added} then ${MAX} else ${stored} + ${added} end`;
    };
    return db
      .insertInto('domain_day')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
          reports: eb('domain_day.reports', '+', eb.ref('excluded.reports')),
          messages: sum('messages'),
          aligned: sum('aligned'),
          policy: eb.fn.coalesce('excluded.policy', 'domain_day.policy'),
          sources: null,
        })),
      );
  },
);

/** Counts days again from their reports, after some of these were deleted or are believed otherwise. */
export async function recountDays(tx: Tx, domainId: string, days: Iterable<Day>): Promise<void> {
  for (const day of days) {
    const row = tx.deleteFrom('domain_day').where('domain_id', '=', domainId);
    await row.where('day', '=', day).execute();
    const counted = await countReports(tx, { domainId, day });
    if (counted.reports === 0) continue;
    const policy = (await findStatedPolicy(tx, { domainId, day })) ?? null;
    await runAllPrepared(tx, addToDays([{ domainId, day, ...counted, policy }]));
  }
}

export type DomainDay = { readonly domainId: string; readonly day: Day };

async function countReports(tx: Tx, { domainId, day }: DomainDay) {
  const sum = (column: string) =>
    sql<number>`cast(case when sum(${sql.ref(column)}) > ${MAX} then ${MAX} else coalesce(sum(${sql.ref(column)}), 0) end as bigint)`;
  return await tx
    .selectFrom('report')
    .select(({ fn }) => [
      fn.countAll<number>().as('reports'),
      sum('total_messages').as('messages'),
      sum('aligned_messages').as('aligned'),
    ])
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', `${day}T00:00:00Z`)
    .where('begin_date', '<=', `${day}T23:59:59Z`)
    .executeTakeFirstOrThrow();
}

/** Whether a view counts a row of `report`. */
export function isCounted(view: View): Expression<SqlBool> {
  return view === 'established'
    ? sql<SqlBool>`(authenticated is null or (authenticated not in ('', 'disputed')
        and authenticated not like 'new %'))`
    : sql<SqlBool>`(authenticated is null or authenticated <> 'disputed')`;
}
