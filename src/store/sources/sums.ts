import { type RawBuilder, sql } from 'kysely';
import {
  type Cover,
  hasStale,
  levelOf,
  type Period,
  type PeriodState,
  rangeOf,
  toLonger,
} from '../../domain/sources/periods.ts';
import { lockDomain } from '../accounts/domains.ts';
import type { Tx } from '../engine/database.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { ask, type Plan, toReader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import { type CoverLists, PART, SUMS, selectParts } from './parts.ts';
import { planCover, staleUpsertsOf, toJsonLists } from './periods.ts';

/* Whether sums are worth their space is decided before the transaction, which then reads at most `maxRows` rows. */

export interface DomainPeriod {
  readonly domainId: string;
  readonly period: Period;
}

export interface SumLimits {
  /** Fewer rows than this are read as fast as their sums. */
  readonly minRows: number;
  /** With more rows than this, the transaction would take too long. */
  readonly maxRows: number;
  /** With fewer rows for each address, there are almost as many sums as rows. */
  readonly minRowsOfAddress: number;
}

const LIMITS: SumLimits = { minRows: 500, maxRows: 20_000, minRowsOfAddress: 2 };

/** Returns whether sums were written. A longer period stays stale until none of its thirds of months is stale. */
export async function sumPeriod(
  { db, reader }: Pick<Store, 'db' | 'reader'>,
  of: DomainPeriod,
  limits: SumLimits = LIMITS,
): Promise<boolean> {
  const { state } = await reader.readPlan(() => planState(of, limits));
  if (state === 'stale') return false;
  return await db.write((tx) => writeState(tx, of, { state, limits }));
}

interface PlannedState {
  /** The state that the period gets; `stale` when nothing is to be done yet. */
  readonly state: PeriodState;
  /** What it is summed from. */
  readonly cover: Cover;
}

function* planState({ domainId, period }: DomainPeriod, limits: SumLimits): Plan<PlannedState> {
  const { states, ...cover } = yield* planCover(domainId, rangeOf(period));
  const isDue = levelOf(period) === 'third' || !hasStale(period, states);
  if (states.get(period) !== 'stale' || !isDue) return { state: 'stale', cover };
  const atMost = limits.maxRows + 1;
  const [size] = yield* ask(sizeOf({ domainId, ...toJsonLists(cover), atMost }));
  const counts = { rows: Number(size?.rows), addresses: Number(size?.addresses) };
  return { state: isWorth(counts, limits) ? 'summed' : 'days', cover };
}

interface Size {
  readonly rows: number;
  readonly addresses: number;
}

function isWorth({ rows, addresses }: Size, limits: SumLimits): boolean {
  const { minRows, maxRows, minRowsOfAddress } = limits;
  return rows >= minRows && rows <= maxRows && rows >= minRowsOfAddress * addresses;
}

const sizeOf = prepareQuery<CoverLists & { atMost: number }, Size>((db, param) =>
  db
    .selectFrom(
      db
        .selectFrom(selectParts(db, param, []).as('part'))
        .select('address')
        .limit(param('atMost'))
        .as('part'),
    )
    .select(sql<number>`count(*)`.as('rows'))
    .select(sql<number>`count(distinct address)`.as('addresses')),
);

async function writeState(
  tx: Tx,
  { domainId, period }: DomainPeriod,
  { state, limits }: { readonly state: PeriodState; readonly limits: SumLimits },
): Promise<boolean> {
  await lockDomain(tx, domainId);
  // Planned again under the lock: reports may have come in since, and the state, stale before, does not show it.
  const planned = await toReader(tx).readPlan(() => planState({ domainId, period }, limits));
  if (planned.state !== state) return false;
  await tx
    .deleteFrom('source_sum')
    .where('domain_id', '=', domainId)
    .where('period', '=', period)
    .execute();
  if (state === 'summed')
    await runPrepared(tx, sumsInsert({ domainId, period, ...toJsonLists(planned.cover) }));
  await tx
    .updateTable('source_period')
    .set({ state })
    .where('domain_id', '=', domainId)
    .where('period', '=', period)
    .execute();
  if (levelOf(period) === 'third')
    await runAllPrepared(tx, staleUpsertsOf(domainId, toLonger(period)));
  return state === 'summed';
}

/** An exact integer. The sum of at most 92 days fits into an int64. So sums of sums equal sums of days. */
function exactSumOf(column: string): RawBuilder<number> {
  return sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
}

const sumsInsert = prepareQuery<CoverLists & { period: string }, never>((db, param) =>
  db
    .insertInto('source_sum')
    .columns(['domain_id', 'period', 'address', ...PART])
    .expression(
      db
        .selectFrom(selectParts(db, param, PART).as('part'))
        .select(sql<string>`cast(${param('domainId')} as text)`.as('domain_id'))
        .select([sql<string>`cast(${param('period')} as text)`.as('period'), 'address'])
        .select(SUMS.map((column) => exactSumOf(column).as(column)))
        .select(({ fn }) => [
          fn.min('first_day').as('first_day'),
          fn.max('last_day').as('last_day'),
        ])
        .groupBy('address'),
    ),
);
