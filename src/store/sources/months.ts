import { addDays, type Day } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { packMonth } from '../../domain/sources/month-sources.ts';
import { isIntact } from '../../domain/sources/packed-sources.ts';
import { lockDomain } from '../accounts/domains.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepareQuery, runPrepared } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { type DataDay, type DaysQuery, type DomainDay, daysOf } from './days.ts';
import { repairDay } from './recount.ts';

/*
 * Sums of the days of a month. Intake does not know them: it only makes a month's reports more than its sum has, and
 * then the days are read. What removes a report deletes the sum (decision 92).
 */

/** A day, or a month as its first day. */
export interface Part extends DataDay {
  /** Of a month. */
  readonly lastDay?: Day;
}

/** The sums that are good, of months that lie in the range. */
const monthsOf = prepareQuery<DaysQuery, Required<Part>>((db, param) =>
  db
    .selectFrom('domain_month')
    .select(['first_day as day', 'last_day as lastDay', 'reports', 'messages', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('first_day', '>=', param('from'))
    .where('last_day', '<=', param('to'))
    .where('reports', '=', (eb) =>
      eb
        .selectFrom('domain_day')
        .select(({ fn }) => fn.sum<number>('domain_day.reports').as('reports'))
        .whereRef('domain_day.domain_id', '=', 'domain_month.domain_id')
        .whereRef('day', '>=', 'first_day')
        .whereRef('day', '<=', 'last_day'),
    )
    .orderBy('first_day'),
);

/** What a range adds up from: its months that are summed and its other days, oldest first. */
export function* planParts({ domainId, from, to }: DaysQuery): Plan<Part[]> {
  const months = yield* ask(monthsOf({ domainId, from, to }));
  const parts: Part[] = [];
  let next = from;
  for (const month of months) {
    if (next < month.day)
      parts.push(...(yield* ask(daysOf({ domainId, from: next, to: addDays(month.day, -1) }))));
    parts.push(month);
    next = addDays(month.lastDay, 1);
  }
  if (next <= to) parts.push(...(yield* ask(daysOf({ domainId, from: next, to }))));
  return parts;
}

/** Fewer days are read as fast as their sum. */
const MIN_DAYS = 4;

/**
 * The months that were read by their days and lie in the range, before the newest day's, which still changes; and those
 * of damaged parts, because summing repairs them.
 */
export function listUnsummed(
  parts: readonly Part[],
  from: Day,
  damaged: readonly Day[],
): readonly Day[] {
  const days = parts.filter(({ lastDay }) => lastDay === undefined);
  const byMonth = Map.groupBy(days, ({ day }) => toMonth(day));
  const newest = parts.at(-1)?.day ?? '';
  const unsummed = [...byMonth]
    .filter(([month, { length }]) => length >= MIN_DAYS && month >= from)
    .map(([month]) => month)
    .filter((month) => toLastDay(month) < newest);
  return [...new Set([...unsummed, ...damaged.map(toMonth)])];
}

function toLastDay(month: Day): Day {
  // No month has more than 31 days, so this is in the next one.
  const later = addDays(month, 31);
  return addDays(later, -Number(later.slice(8)));
}

export interface MonthsOfDomain {
  readonly domainId: string;
  readonly months: readonly Day[];
}

/** Sums months, each in a transaction of its own, which reads at most 31 days. */
export async function sumMonths(db: Db, { domainId, months }: MonthsOfDomain): Promise<void> {
  for (const month of months) await db.write((tx) => sumMonth(tx, domainId, month));
}

async function sumMonth(tx: Tx, domainId: string, month: Day): Promise<void> {
  await lockDomain(tx, domainId);
  const last_day = toLastDay(month);
  const range = { domainId, from: month, to: last_day };
  const [known] = await runPrepared(tx, monthsOf(range));
  if (known !== undefined && isIntact(known.sources)) return;
  const days: DataDay[] = [];
  for (const day of await runPrepared(tx, daysOf(range))) {
    const isDamaged = !isIntact(day.sources);
    days.push(isDamaged ? { ...day, sources: await repairDay(tx, { domainId, ...day }) } : day);
  }
  const sum = (name: 'reports' | 'messages') =>
    days.reduce((all, day) => addSafely(all, Number(day[name])), 0);
  const values = {
    last_day,
    reports: sum('reports'),
    messages: sum('messages'),
    sources: packMonth(days),
  };
  await tx
    .insertInto('domain_month')
    .values({ domain_id: domainId, first_day: month, ...values })
    .onConflict((oc) => oc.columns(['domain_id', 'first_day']).doUpdateSet(values))
    .execute();
}

/** In the transaction that removes a report of the day: the others would be as many as before when one more comes. */
export async function deleteMonth(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  await tx
    .deleteFrom('domain_month')
    .where('domain_id', '=', domainId)
    .where('first_day', '=', toMonth(day))
    .execute();
}

const toMonth = (day: Day): Day => `${day.slice(0, 7)}-01`;
