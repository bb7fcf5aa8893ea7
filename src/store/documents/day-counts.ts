import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { isInView, VIEWS, type View } from '../../domain/reports/authentication.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addReport } from '../../domain/sources/day-sources.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { type BoundQuery, prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { findReporterName } from '../reports/report-row.ts';
import type { DomainDay } from '../sources/days.ts';
import { changePacked, recountDay } from '../sources/recount.ts';
import type { Tables } from '../tables.ts';
import type { CountedReport, DomainArrivals } from './arrivals.ts';

/*
 * What the reports of a day add up to, also as alerts look at it (domain/reports/authentication.ts). Most days have no rows
 * in `alert_day`: views count what the day has. A day gets them with its first report that a view does not count. They are
 * sums of their own, not differences: nobody who sends reports without end pushes out what others say, or brings a sum to
 * where it stops.
 */

export type DayRow = Selectable<Tables['domain_day']>;
export type AlertDay = Tables['alert_day'];

/** What the days of stored reports become. */
export async function toDayChanges(
  tx: Tx,
  byDomain: readonly DomainArrivals[],
): Promise<BoundQuery<never>[]> {
  const changed = byDomain.flatMap(({ domain, days }) =>
    [...days].map(([day, reports]) => ({ at: { domainId: domain.id, day }, reports })),
  );
  const places = changed.map(({ at }) => at);
  const queries = [...places.map(dayOf), ...places.map(alertDaysOf)];
  const found = await runAllPrepared<DayRow | AlertDay>(tx, queries);
  const days: DayRow[] = [];
  const alertDays: AlertDay[] = [];
  for (const [i, { at, reports }] of changed.entries()) {
    const stored = found[i]?.[0] as DayRow | undefined;
    const views = found[places.length + i] as AlertDay[];
    days.push(await addToDay(tx, { at, stored }, reports));
    alertDays.push(...(await addToViews(tx, { at, stored, views }, reports)));
  }
  return [...dayUpserts(days), ...alertDayUpserts(alertDays)];
}

interface Stored<Row> {
  readonly at: DomainDay;
  /** undefined for the first reports of a day. */
  readonly stored: Row | undefined;
}

async function addToDay(
  tx: Tx,
  { at, stored }: Stored<DayRow>,
  reports: readonly CountedReport[],
): Promise<DayRow> {
  const stated = reports
    .filter(({ authenticated }) => isInView('established', authenticated))
    .map(({ policyPublished }) => toPolicyTags(policyPublished));
  const policy = stated.findLast((one) => one !== null) ?? stored?.policy ?? null;
  const sum = await addTo(stored, reports, () => recountDay(tx, at));
  return { domain_id: at.domainId, day: at.day, policy, ...sum };
}

/** The rows that change. A view without a row of its own counts what the day has. */
async function addToViews(
  tx: Tx,
  { at, stored, views }: Stored<DayRow> & { readonly views: readonly AlertDay[] },
  reports: readonly CountedReport[],
): Promise<AlertDay[]> {
  const rows: AlertDay[] = [];
  for (const view of VIEWS) {
    const own = views.find((row) => row.view === view);
    const counted = reports.filter(({ authenticated }) => isInView(view, authenticated));
    if (counted.length === (own === undefined ? reports.length : 0)) continue;
    const sum = await addTo(own ?? stored, counted, () => recountDay(tx, at, isCounted(view)));
    rows.push({ domain_id: at.domainId, day: at.day, view, ...sum });
  }
  return rows;
}

export type Sum = Pick<DayRow, 'reports' | 'messages' | 'aligned' | 'sources'>;

const NOTHING: Sum = { reports: 0, messages: 0, aligned: 0, sources: null };

/** A stored report counts in more views of its day, because its sender is better known now. */
export async function addToMoreViews(
  tx: Tx,
  at: DomainDay,
  { before, report }: { readonly before: string | null; readonly report: CountedReport },
): Promise<void> {
  for (const own of await runPrepared(tx, alertDaysOf(at))) {
    const { view } = own;
    if (isInView(view, before) || !isInView(view, report.authenticated)) continue;
    const sum = await addTo(own, [report], () => recountDay(tx, at, isCounted(view)));
    await runAllPrepared(tx, alertDayUpserts([{ ...own, ...sum }]));
  }
}

/** The domain is locked, so nobody else changes its days. The added reports are stored already. */
async function addTo(
  { reports, messages, aligned, sources }: Sum = NOTHING,
  added: readonly CountedReport[],
  recount: Parameters<typeof changePacked>[2],
): Promise<Sum> {
  const add = (to: number, column: 'total_messages' | 'aligned_messages') =>
    added.reduce((sum, report) => addSafely(sum, report[column]), to);
  return {
    reports: reports + added.length,
    messages: add(messages, 'total_messages'),
    aligned: add(aligned, 'aligned_messages'),
    sources: await changePacked(
      sources,
      (all) => {
        for (const { sources = [], ...report } of added)
          addReport(all, { reporter: findReporterName(report), sources });
      },
      recount,
    ),
  };
}

const COLUMNS = [
  ...(['domain_id', 'day', 'reports', 'messages', 'aligned'] as const),
  ...(['policy', 'sources'] as const),
] as const;

/** No row when no report of the day is stored. */
export const dayOf = prepareQuery<DomainDay, DayRow>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(COLUMNS)
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day')),
);

export const dayUpserts = prepareRows<DayRow, never>(COLUMNS, (db, rows) =>
  db
    .insertInto('domain_day')
    .values(rows)
    .onConflict((oc) =>
      oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
        reports: eb.ref('excluded.reports'),
        messages: eb.ref('excluded.messages'),
        aligned: eb.ref('excluded.aligned'),
        policy: eb.ref('excluded.policy'),
        sources: eb.ref('excluded.sources'),
      })),
    ),
);

const ALERT_DAY_COLUMNS = [
  ...(['domain_id', 'day', 'reports', 'messages', 'aligned'] as const),
  ...(['view', 'sources'] as const),
] as const;

/** The rows of its views. */
export const alertDaysOf = prepareQuery<DomainDay, AlertDay>((db, param) =>
  db
    .selectFrom('alert_day')
    .select(ALERT_DAY_COLUMNS)
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day')),
);

export const alertDayUpserts = prepareRows<AlertDay, never>(ALERT_DAY_COLUMNS, (db, rows) =>
  db
    .insertInto('alert_day')
    .values(rows)
    .onConflict((oc) =>
      oc.columns(['domain_id', 'day', 'view']).doUpdateSet((eb) => ({
        reports: eb.ref('excluded.reports'),
        messages: eb.ref('excluded.messages'),
        aligned: eb.ref('excluded.aligned'),
        sources: eb.ref('excluded.sources'),
      })),
    ),
);

/** Whether a view counts a row of `report`. */
export function isCounted(view: View): Expression<SqlBool> {
  return view === 'established'
    ? sql<SqlBool>`(authenticated is null or (authenticated not in ('', 'disputed')
        and authenticated not like 'new %'))`
    : sql<SqlBool>`(authenticated is null or authenticated <> 'disputed')`;
}

/** Whether a row of `report` is none of those with these numbers. */
export function isOther(without: readonly number[]): Expression<SqlBool> {
  // 0 is the number of no report.
  return sql<SqlBool>`seq not in (${sql.join([0, ...without])})`;
}
