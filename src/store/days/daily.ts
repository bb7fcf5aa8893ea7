import { sql } from 'kysely';
import { addDays, countDays, type Day, type DayRange } from '../../domain/instant.ts';
import { remember } from '../../domain/remember.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import type { Page } from '../lists/page.ts';
import { type Lately, viewOf } from './believed.ts';
import { countEach, DAY_COUNTS, type DayCount } from './day-counts.ts';

/*
 * A row for each day of a range and each domain, newest day first, then the domains in their order. Days without reports
 * have rows too: so a page is found without a look at the days before it, and the total without counting.
 */

export interface DailyRow extends Readonly<Record<DayCount | 'reports', number>> {
  readonly domainId: string;
  readonly day: Day;
  readonly view: View;
  /** What does not count. */
  readonly aside: { readonly reports: number; readonly messages: number };
}

type Viewed = { readonly id: string; readonly reporters: View };

interface DailyQuery {
  readonly range: DayRange;
  readonly page: Page;
  /** How many domains there are, and a part of them, in their order. */
  readonly domains: number;
  readonly list: (page: Page) => Plan<readonly Viewed[]>;
}

/** The total, and the rows of a page. */
export function* planDaily({ range, page, domains, list }: DailyQuery) {
  const total = domains * countDays(range);
  const { offset, limit } = page;
  const count = Math.max(0, Math.min(limit, total - offset));
  if (count === 0) return { total, rows: [] };
  const toDay = remember((days: number) => addDays(range.to, -days));
  const dayAt = (place: number) => toDay(Math.floor(place / domains));
  // A page begins among the domains of its first day, and may end among those of another.
  const first = offset % domains;
  const own = yield* list({ offset: first, limit: Math.min(count, domains) });
  const wrapped = Math.min(count, domains) - own.length;
  const others = wrapped > 0 ? yield* list({ offset: 0, limit: wrapped }) : [];
  const some = [...own, ...others];
  const ids = JSON.stringify(some.map(({ id }) => id));
  const found = yield* ask(countsOf({ ids, from: dayAt(offset + count - 1), to: dayAt(offset) }));
  const parts = Map.groupBy(found, ({ domain_id, day }) => `${domain_id} ${day}`);
  const rows = Array.from({ length: count }, (_, i): DailyRow => {
    const { id: domainId, reporters: view } = some[i % some.length] as Viewed;
    const day = dayAt(offset + i);
    return { domainId, day, view, ...toCounts(parts.get(`${domainId} ${day}`) ?? [], view) };
  });
  return { total, rows };
}

const countsOf = prepareQuery((db, param: Param<{ ids: string; from: Day; to: Day }>) =>
  db
    .selectFrom('domain_day')
    .select(['domain_id', 'day', 'belief', 'reports'])
    .select(Object.keys(DAY_COUNTS) as DayCount[])
    .where(dialectOf(db).isIn(sql.ref('domain_id'), param('ids'), 'uuid'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to')),
);

const NO_COUNTS = countEach(() => 0);

function toCounts(parts: readonly RowOfQuery<typeof countsOf>[], view: View) {
  const [counts, aside] = [
    { ...NO_COUNTS, reports: 0 },
    { reports: 0, messages: 0 },
  ];
  for (const part of parts) {
    const isCounted = part.belief === 'established' || (part.belief === 'other' && view === 'all');
    const sums: Partial<Record<DayCount | 'reports', number>> = isCounted ? counts : aside;
    for (const [name, sum = 0] of Object.entries(sums) as [DayCount | 'reports', number][])
      sums[name] = addSafely(sum, part[name]);
  }
  return { ...counts, aside };
}

/** A part of an account's active domains, by name. */
export const activeAt = prepareQuery((db, param: Param<Lately & Page & { accountId: string }>) =>
  db
    .selectFrom('domain')
    .select(['id', viewOf(db, sql.ref('domain.id'), param).as('reporters')])
    .where('account_id', '=', param('accountId'))
    .where('status', '=', 'active')
    .orderBy('name')
    .limit(param('limit'))
    .offset(param('offset')),
);
