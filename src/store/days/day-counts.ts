import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type BoundQuery, runAllPrepared } from '../engine/prepared.ts';
import { toReader } from '../engine/reader.ts';
import { sumOf } from '../engine/sums.ts';
import { isOfDomain } from '../lists/heads.ts';
import { BELIEF } from './belief.ts';
import { IS_DMARC } from './believed.ts';
import type { DomainDay } from './day-sources.ts';
import { planStatedPolicy } from './stated-policy.ts';
import { toBounds } from './views.ts';

/*
 * What the reports of a day add up to, by how far they are believed. The domain is locked, so nobody else changes its days.
 * Whatever changes a row empties its cache of sources; a reader fills it again (day-sources.ts).
 */

/** The counts of a day, and the column of its reports that each adds up. */
export const DAY_COUNTS = {
  messages: 'total_messages',
  aligned: 'aligned_messages',
  dkim_aligned: 'dkim_aligned',
  spf_aligned: 'spf_aligned',
  quarantined: 'quarantined',
  rejected: 'rejected',
  otherwise: 'otherwise',
} as const;

export type DayCount = keyof typeof DAY_COUNTS;

const NAMES = Object.keys(DAY_COUNTS) as DayCount[];

/** What `toCount` finds for each count. */
export function countEach<Value>(
  toCount: (column: (typeof DAY_COUNTS)[DayCount], name: DayCount) => Value,
) {
  const counts = NAMES.map((name) => [name, toCount(DAY_COUNTS[name], name)]);
  return Object.fromEntries(counts) as Record<DayCount, Value>;
}

interface AddedDay extends DomainDay, Readonly<Record<DayCount, number>> {
  readonly reports: number;
  /** What its reports state (stated-policy.ts); null when none does. */
  readonly policy: string | null;
}

export function addToDays(added: readonly AddedDay[]): BoundQuery<unknown>[] {
  return dayUpserts(added.map(({ domainId, ...counts }) => ({ domain_id: domainId, ...counts })));
}

type DayRow = Omit<AddedDay, 'domainId'> & { readonly domain_id: string };

const sumOfBoth = (column: DayCount) => {
  const [stored, added] = [sql.ref(`domain_day.${column}`), sql.ref(`excluded.${column}`)];
  const max = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`case when ${stored} > ${max} - ${added} then ${max} else ${stored} + ${added} end`;
};

const dayUpserts = prepareRows(
  ['domain_id', 'day', 'belief', 'reports', 'policy', ...NAMES],
  (db, rows: readonly RowOf<DayRow>[]) =>
    db
      .insertInto('domain_day')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day', 'belief']).doUpdateSet((eb) => ({
          reports: eb('domain_day.reports', '+', eb.ref('excluded.reports')),
          ...Object.fromEntries(NAMES.map((name) => [name, sumOfBoth(name)])),
          policy: eb.fn.coalesce('excluded.policy', 'domain_day.policy'),
          sources: null,
        })),
      ),
);

/** After rows of `report` were deleted or replaced, or their senders became known: what they were part of is counted again. */
export async function recountDays(tx: Tx, days: Iterable<DomainDay>): Promise<void> {
  const unique = new Map([...days].map((one) => [Object.values(one).join(' '), one]));
  for (const one of unique.values()) {
    const { domainId: domain_id, day, belief } = one;
    const { reports, ...counts } = await countDay(tx, one);
    const row = tx.deleteFrom('domain_day').where(({ and }) => and({ domain_id, day, belief }));
    await row.execute();
    if (reports === 0) continue;
    const policy = (await toReader(tx).readPlan(() => planStatedPolicy(one))) ?? null;
    await runAllPrepared(tx, addToDays([{ ...one, reports, ...counts, policy }]));
  }
}

async function countDay(tx: Tx, { domainId, day, belief }: DomainDay) {
  const { first, last } = toBounds(day);
  return await tx
    .selectFrom('report')
    .select(({ fn }) => fn.countAll<number>().as('reports'))
    .select(NAMES.map((name) => sumOf(DAY_COUNTS[name]).as(name)))
    .where(isOfDomain(domainId))
    .where('begin_date', '>=', first)
    .where('begin_date', '<=', last)
    .where(BELIEF, '=', belief)
    .where(IS_DMARC)
    .executeTakeFirstOrThrow();
}
