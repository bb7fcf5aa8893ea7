import { type RawBuilder, sql } from 'kysely';
import {
  type Cover,
  hasStale,
  levelOf,
  type Period,
  type PeriodState,
  type PeriodStates,
  rangeOf,
  toLonger,
} from '../../domain/sources/periods.ts';
import { lockDomain } from '../accounts/domains.ts';
import type { Tx } from '../engine/database.ts';
import type { Store } from '../engine/open.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { ask, type Plan, toReader } from '../engine/reader.ts';
import { PART, SUMS, selectParts } from './parts.ts';
import { planCover, staleUpsertsOf, toJsonLists } from './periods.ts';

/*
 * Sums what addresses sent in a period. Whether it is worth it is found out before the transaction, which then reads
 * what it writes: rows up to `maxRows`.
 */

/** A period of a domain. */
export interface DomainPeriod {
  readonly domainId: string;
  readonly period: Period;
}

/** What is worth sums. */
export interface SumLimits {
  /** Fewer rows are read as fast as their sums. */
  readonly minRows: number;
  /** With more rows the transaction would be long. */
  readonly maxRows: number;
  /** With fewer rows an address, sums are almost as many as the rows. */
  readonly minRowsOfAddress: number;
}

const LIMITS: SumLimits = { minRows: 500, maxRows: 20_000, minRowsOfAddress: 2 };

/**
 * Sums a stale period, or finds that its days are to be read. A longer period waits for its thirds of months. Returns
 * whether sums were written.
 */
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
  /** The state that the period gets; `stale` when it stays as it is. */
  readonly state: PeriodState;
  /** What it is summed from. */
  readonly cover: Cover;
}

function* planState({ domainId, period }: DomainPeriod, limits: SumLimits): Plan<PlannedState> {
  const { states, ...cover } = yield* planCover(domainId, rangeOf(period));
  if (!isDue(period, states)) return { state: 'stale', cover };
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

function isDue(period: Period, states: PeriodStates): boolean {
  if (states.get(period) !== 'stale') return false;
  return levelOf(period) === 'third' || !hasStale(period, states);
}

type CoverLists = { domainId: string; days: string; periods: string };

const sizeOf = prepareQuery<CoverLists & { atMost: number }, Size>((db, param) => {
  const lists = { domainId: param('domainId'), days: param('days'), periods: param('periods') };
  return db
    .selectFrom(
      db
        .selectFrom(selectParts(db, lists, []).as('part'))
        .select('address')
        .limit(param('atMost'))
        .as('part'),
    )
    .select(sql<number>`count(*)`.as('rows'))
    .select(sql<number>`count(distinct address)`.as('addresses'));
});

async function writeState(
  tx: Tx,
  { domainId, period }: DomainPeriod,
  { state, limits }: { readonly state: PeriodState; readonly limits: SumLimits },
): Promise<boolean> {
  await lockDomain(tx, domainId);
  // What came in since leaves no mark, because the period is stale already.
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

/** Of 92 days at most, so it fits into an int64. Sums of sums are then the same as those of days. */
function exactSumOf(column: string): RawBuilder<number> {
  return sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
}

const sumsInsert = prepareQuery<CoverLists & { period: string }, never>((db, param) => {
  const lists = { domainId: param('domainId'), days: param('days'), periods: param('periods') };
  return db
    .insertInto('source_sum')
    .columns(['domain_id', 'period', 'address', ...PART])
    .expression(
      db
        .selectFrom(selectParts(db, lists, PART).as('part'))
        .select(sql<string>`cast(${param('domainId')} as text)`.as('domain_id'))
        .select([sql<string>`cast(${param('period')} as text)`.as('period'), 'address'])
        .select(SUMS.map((column) => exactSumOf(column).as(column)))
        .select(({ fn }) => [
          fn.min('first_day').as('first_day'),
          fn.max('last_day').as('last_day'),
        ])
        .groupBy('address'),
    );
});
