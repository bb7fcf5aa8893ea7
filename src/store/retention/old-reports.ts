import type { SelectQueryBuilder } from 'kysely';
import { addDays, type Day, END_OF_TIME, toDay } from '../../domain/instant.ts';
import { lockDomain } from '../accounts/domains.ts';
import { uncountReports } from '../corrections/departures.ts';
import type { ReportRow } from '../corrections/rows.ts';
import { deleteDocuments } from '../documents/originals.ts';
import { measureReports, takeSome } from '../documents/stored-bytes.ts';
import type { Db, Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { beginAfter, insertGaps, pointInserts } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/*
 * Reports of the domains of accounts go by age, the days before a given one, with their conflicts and documents. Cursors
 * stay good: who follows a list never meets a report that has gone, and is not told of it (the contract, "Cursors").
 */

/** In one transaction. */
const REPORTS_AT_ONCE = 100;
const DOMAINS_AT_ONCE = 500;

export interface Retention {
  /** What is of earlier days goes. */
  readonly before: Day;
  /** So many of a domain's newest days with reports stay, whatever their age: alerts compare with them. */
  readonly daysKept: number;
  readonly mayGoOn: () => Promise<boolean>;
}

/** What goes, or would go. */
export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** Takes one step after the other at each place, until nothing is left there (undefined) or it may not go on. */
export async function addUp<Place>(
  places: AsyncIterable<Place>,
  mayGoOn: () => Promise<boolean>,
  step: (place: Place) => Promise<Amount | undefined>,
): Promise<Amount> {
  let [count, bytes] = [0, 0];
  for await (const place of places)
    for (;;) {
      if (!(await mayGoOn())) return { count, bytes };
      const some = await step(place);
      if (some === undefined) break;
      count += some.count;
      bytes += some.bytes;
    }
  return { count, bytes };
}

/** With the bytes of their contents and originals. Each transaction takes reports of one day. Doing it twice does no harm. */
export function pruneReports(db: Db, retention: Retention): Promise<Amount> {
  return addUp(listPrunable(db, retention), retention.mayGoOn, ({ domainId, until }) =>
    db.write((tx) => deleteOldest(tx, domainId, until)),
  );
}

/** What would go. */
export async function measurePrunable(db: Db, retention: Retention): Promise<Amount> {
  let [count, bytes] = [0, 0];
  for await (const { domainId, until } of listPrunable(db, retention)) {
    const days = db.selectFrom('domain_day').where('domain_id', '=', domainId);
    const old = days.select(({ fn }) => fn.sum('reports').as('reports')).where('day', '<=', until);
    const reports = Number((await old.executeTakeFirst())?.reports ?? 0);
    count += reports;
    bytes += reports * (await measureAverage(db, domainId));
  }
  return { count, bytes: Math.round(bytes) };
}

async function measureAverage(db: Db, domainId: string): Promise<number> {
  const { reports, bytes } = await db
    .selectFrom('domain_receipt')
    .select(({ fn }) => [fn.sum('reports').as('reports'), fn.sum('bytes').as('bytes')])
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow();
  return Number(bytes) / Math.max(1, Number(reports));
}

/** The domains of accounts that have a day that may go, with the last such day. */
export async function* listPrunable(db: Db, { before, daysKept }: Retention) {
  for await (const domainId of listDomainsWithReports(db)) {
    const until = await findLastOldDay(db, { domainId, before, daysKept });
    if (until !== undefined) yield { domainId, until };
  }
}

/** Of accounts. */
export async function* listDomainsWithReports(db: Db): AsyncGenerator<string> {
  const domains = db
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('account_id', 'is not', null)
    .where('reports_total', '>', 0);
  for await (const { id } of readByName(domains)) yield id;
}

/** All rows of a query of domains, in parts. */
export async function* readByName<Row extends { readonly name: string }>(
  domains: SelectQueryBuilder<Tables, 'domain', Row>,
): AsyncGenerator<Row> {
  const part = domains.orderBy('name').limit(DOMAINS_AT_ONCE);
  let rows = await part.execute();
  while (rows.length > 0) {
    yield* rows;
    rows = await part.where('name', '>', rows.at(-1)?.name ?? '').execute();
  }
}

async function findLastOldDay(
  db: Db,
  { domainId, before, daysKept }: Pick<Retention, 'before' | 'daysKept'> & { domainId: string },
): Promise<Day | undefined> {
  const days = db.selectFrom('domain_day').select('day').where('domain_id', '=', domainId);
  const first = await days.orderBy('day').limit(1).executeTakeFirst();
  if (first === undefined || first.day >= before) return undefined;
  const oldestKept = await days
    .orderBy('day', 'desc')
    .offset(daysKept - 1)
    .limit(1)
    .executeTakeFirst();
  if (oldestKept === undefined) return undefined;
  const until = addDays(oldestKept.day < before ? oldestKept.day : before, -1);
  return first.day <= until ? until : undefined;
}

/** Some reports of a domain's oldest day, in the transaction of the caller; undefined when there are none. */
export async function deleteOldest(
  tx: Tx,
  domainId: string,
  until: Day = toDay(END_OF_TIME),
): Promise<Amount | undefined> {
  await lockDomain(tx, domainId);
  const oldest = await tx
    .selectFrom('domain_day')
    .select('day')
    .where('domain_id', '=', domainId)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined || oldest.day > until) return undefined;
  const rows = await tx
    .selectFrom('report')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', oldest.day)
    .where('begin_date', '<=', `${oldest.day}T23:59:59Z`)
    .orderBy('begin_date')
    .orderBy('seq')
    .limit(REPORTS_AT_ONCE)
    .execute();
  return await deleteReports(tx, domainId, rows);
}

/** As many of the first as one transaction deletes, with their conflicts and documents. All are of one domain. */
export async function deleteReports(
  tx: Tx,
  domainId: string,
  rows: readonly ReportRow[],
): Promise<Amount> {
  const departed = takeSome(await measureReports(tx, rows));
  const reports = departed.map(({ report }) => report);
  if (reports.length === 0) return { count: 0, bytes: 0 };
  await deleteRows(tx, reports);
  const byDay = Map.groupBy(departed, ({ report }) => toDay(report.begin_date));
  for (const ofDay of byDay.values()) await uncountReports(tx, ofDay);
  await leavePositions(tx, domainId, reports);
  await deleteDocuments(
    tx,
    departed.flatMap(({ documents }) => documents),
  );
  const bytes = departed.reduce((sum, one) => sum + one.bytes, 0);
  return { count: reports.length, bytes };
}

async function deleteRows(tx: Tx, reports: readonly ReportRow[]): Promise<void> {
  const [first] = reports as readonly [ReportRow];
  const ids = reports.map(({ id }) => id);
  // The whole key of reports and conflicts (decision 90).
  const dates = reports.map(({ begin_date }) => begin_date);
  for (const [table, column] of [
    ['conflict', 'report_id'],
    ['report', 'id'],
  ] as const)
    await tx
      .deleteFrom(table)
      .where('domain_id', '=', first.domain_id)
      .where('begin_date', 'in', dates)
      .where(column, 'in', ids)
      .execute();
}

/**
 * Positions before the first that is left are forgotten, so that neither gaps nor points grow with the years. The others
 * become gaps, with their points.
 */
async function leavePositions(
  tx: Tx,
  domainId: string,
  reports: readonly ReportRow[],
): Promise<void> {
  const list = reportList(domainId);
  const first = await tx
    .selectFrom('report')
    .select('position')
    .where('domain_id', '=', domainId)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  // None: the domain is deleted.
  const begin = first === undefined ? -1 : first.position - 1;
  const left = reports.filter(({ position }) => position > begin);
  if (left.length > 0)
    await insertGaps(
      tx,
      list,
      left.map(({ position }) => position),
    );
  const points = left.map(({ position, nonce }) => ({ listId: list, position, nonce }));
  await runAllPrepared(tx, pointInserts(points));
  if (left.length < reports.length) await beginAfter(tx, list, begin);
}
