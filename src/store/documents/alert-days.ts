import { type Expression, type SqlBool, sql } from 'kysely';
import { VIEWS, type View } from '../../domain/reports/authentication.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addDay, type DaySources, subtractDay } from '../../domain/sources/day-sources.ts';
import { isKept, NOT_KEPT, packSources } from '../../domain/sources/packed-sources.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import type { DomainDay } from '../sources/days.ts';
import { changePacked, recountDay } from '../sources/recount.ts';
import type { Tables } from '../tables.ts';
import type { DayCount, DomainArrivals, ReportSum } from './arrivals.ts';

/*
 * Days as alerts look at them (domain/reports/authentication.ts). Most days have no such rows: they count as they are. A
 * day gets them with its first report that a view does not count. They are sums of their own, not differences: nobody
 * who sends reports without end pushes out what others say, or brings a sum to where it stops.
 */

type AlertDay = Tables['alert_day'];

/** Before the days themselves are counted, and after the reports are stored. */
export async function countAlertDays(tx: Tx, byDomain: readonly DomainArrivals[]): Promise<void> {
  const changed = byDomain.flatMap(({ domain, days }) =>
    [...days]
      .filter(([, { hidden }]) => domain.hasAlertDays !== 0 || hidden.size > 0)
      .map(([day, count]) => ({ at: { domainId: domain.id, day }, count })),
  );
  const known = await runAllPrepared(
    tx,
    changed.map(({ at }) => alertDaysOf(at)),
  );
  const rows: AlertDay[] = [];
  for (const [i, { at, count }] of changed.entries())
    rows.push(...(await addToViews(tx, { at, known: known[i] ?? [] }, count)));
  await runAllPrepared(tx, alertDayUpserts(rows));
  const noted = new Set(changed.map(({ at }) => at.domainId));
  for (const { domain } of byDomain)
    if (domain.hasAlertDays === 0 && noted.has(domain.id)) await noteAlertDays(tx, domain.id);
}

/** The rows that change. */
async function addToViews(
  tx: Tx,
  { at, known }: { at: DomainDay; known: readonly AlertDay[] },
  count: DayCount,
): Promise<AlertDay[]> {
  const rows: AlertDay[] = [];
  for (const view of VIEWS) {
    const stored = known.find((row) => row.view === view);
    const hidden = count.hidden.get(view);
    const isSame = stored === undefined ? hidden === undefined : hidden?.reports === count.reports;
    if (!isSame) rows.push(await addToView(tx, { at, view, stored }, { count, hidden }));
  }
  return rows;
}

type Sum = Pick<AlertDay, 'reports' | 'messages' | 'aligned' | 'sources'>;

const NO_DAY: Sum = { reports: 0, messages: 0, aligned: 0, sources: null };

/** A view without a row of its own counts what the day has. */
async function addToView(
  tx: Tx,
  { at, view, stored }: { at: DomainDay; view: View; stored: Sum | undefined },
  { count, hidden }: { count: ReportSum; hidden: ReportSum | undefined },
): Promise<AlertDay> {
  const base = stored ?? (await findDay(tx, at)) ?? NO_DAY;
  const sum = (name: 'reports' | 'messages' | 'aligned') =>
    addSafely(Number(base[name]), count[name] - (hidden?.[name] ?? 0));
  return {
    ...{ domain_id: at.domainId, day: at.day, view },
    ...{ reports: sum('reports'), messages: sum('messages'), aligned: sum('aligned') },
    sources: await changePacked(
      base.sources,
      (sources) => addSources(sources, { count, hidden }),
      // The added reports are stored already.
      () => recountDay(tx, at, isCounted(view)),
    ),
  };
}

function addSources(
  sources: DaySources,
  { count, hidden }: { count: ReportSum; hidden: ReportSum | undefined },
): void {
  const added: DaySources = new Map();
  addDay(added, count.sources);
  if (hidden !== undefined) subtractDay(added, hidden.sources);
  addDay(sources, added);
  for (const [key, { counts }] of sources) if (counts.messages === 0) sources.delete(key);
}

const alertDaysOf = prepareQuery<DomainDay, AlertDay>((db, param) =>
  db
    .selectFrom('alert_day')
    .selectAll()
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day')),
);

function findDay(tx: Tx, { domainId: domain_id, day }: DomainDay): Promise<Sum | undefined> {
  const rows = tx.selectFrom('domain_day').select(['reports', 'messages', 'aligned', 'sources']);
  return rows.where(({ and }) => and({ domain_id, day })).executeTakeFirst();
}

async function noteAlertDays(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('domain').set({ has_alert_days: 1 }).where('id', '=', id).execute();
}

const alertDayUpserts = prepareRows<AlertDay, never>(
  ['domain_id', 'day', 'reports', 'messages', 'aligned', 'view', 'sources'],
  (db, rows) =>
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

/**
 * Counts a day's rows again, without some reports: those that leave, or are exchanged and added afterwards. Without a
 * report that is left there are no rows.
 */
export async function recountAlertDays(
  tx: Tx,
  at: DomainDay,
  without: readonly number[] = [],
): Promise<void> {
  const { domainId: domain_id, day } = at;
  for (const { view, sources: known } of await runPrepared(tx, alertDaysOf(at))) {
    const isLeft = sql<SqlBool>`${isCounted(view)} and ${isOther(without)}`;
    const { reports, messages, aligned } = await tx
      .selectFrom('report')
      .select(({ fn }) => [
        fn.countAll<number>().as('reports'),
        fn.sum<number | null>('total_messages').as('messages'),
        fn.sum<number | null>('aligned_messages').as('aligned'),
      ])
      .where('domain_id', '=', domain_id)
      .where('begin_date', '>=', `${day}T00:00:00Z`)
      .where('begin_date', '<=', `${day}T23:59:59Z`)
      .where(isLeft)
      .executeTakeFirstOrThrow();
    const sources = isKept(known) ? packSources(await recountDay(tx, at, isLeft)) : NOT_KEPT;
    const sum = { reports, messages: toSafe(messages), aligned: toSafe(aligned), sources };
    const rows = tx.updateTable('alert_day').set(sum);
    await rows.where(({ and }) => and({ domain_id, day, view })).execute();
  }
}

const toSafe = (sum: number | null) => Math.min(Number(sum ?? 0), Number.MAX_SAFE_INTEGER);

/** Of a day whose last report has gone. */
export async function deleteAlertDays(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  const rows = tx.deleteFrom('alert_day').where('domain_id', '=', domainId);
  await rows.where('day', '=', day).execute();
}
