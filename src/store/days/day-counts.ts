import { sql } from 'kysely';
import type { Counts } from '../../domain/alerts/rate.ts';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import type { BoundQuery } from '../engine/prepared.ts';
import { findStatedPolicy } from './stated-policy.ts';
import { sumOf, toBounds, toCount } from './views.ts';

/*
 * What the reports of a day add up to. The domain is locked, so nobody else changes its days. Whatever changes a day
 * empties its cache of sources; a reader fills it again (day-sources.ts).
 */

interface AddedDay extends Counts {
  readonly domainId: string;
  readonly day: Day;
  readonly reports: number;
  /** What its reports of established reporters state (stated-policy.ts); null when none does. */
  readonly policy: string | null;
}

export function addToDays(added: readonly AddedDay[]): BoundQuery<unknown>[] {
  return dayUpserts(added.map(({ domainId, ...counts }) => ({ domain_id: domainId, ...counts })));
}

type DayRow = Omit<AddedDay, 'domainId'> & { readonly domain_id: string };

const sumOfBoth = (column: keyof Counts) => {
  const [stored, added] = [sql.ref(`domain_day.${column}`), sql.ref(`excluded.${column}`)];
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`case when ${stored} > ${max} - ${added} then ${max} else ${stored} + ${added} end`;
};

const dayUpserts = prepareRows(
  ['domain_id', 'day', 'reports', 'messages', 'aligned', 'policy'],
  (db, rows: readonly RowOf<DayRow>[]) =>
    db
      .insertInto('domain_day')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
          reports: eb('domain_day.reports', '+', eb.ref('excluded.reports')),
          messages: sumOfBoth('messages'),
          aligned: sumOfBoth('aligned'),
          policy: eb.fn.coalesce('excluded.policy', 'domain_day.policy'),
          sources: null,
        })),
      ),
);

/** After rows of `report` were deleted or replaced, or their senders became known: their days are counted again. */
export async function recountDays(tx: Tx, domainId: string, days: Iterable<Day>): Promise<void> {
  for (const day of new Set(days)) {
    const { reports, ...counts } = await countDay(tx, domainId, day);
    const old = tx.deleteFrom('domain_day').where('domain_id', '=', domainId);
    await old.where('day', '=', day).execute();
    if (reports === 0) continue;
    const policy = (await findStatedPolicy(tx, { domainId, day })) ?? null;
    const row = { domain_id: domainId, day, reports, ...counts, policy };
    await tx.insertInto('domain_day').values(row).execute();
  }
}

async function countDay(tx: Tx, domainId: string, day: Day) {
  const { first, last } = toBounds(day);
  const { reports, messages, aligned } = await tx
    .selectFrom('report')
    .select(({ fn }) => fn.countAll<number>().as('reports'))
    .select([sumOf('total_messages').as('messages'), sumOf('aligned_messages').as('aligned')])
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', first)
    .where('begin_date', '<=', last)
    .executeTakeFirstOrThrow();
  return { reports, messages: toCount(messages), aligned: toCount(aligned) };
}
