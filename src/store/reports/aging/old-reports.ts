import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { addDays, type Day, END_OF_TIME, toDay } from '../../../domain/instant.ts';
import { pluralize } from '../../../domain/text.ts';
import { deleteDocuments } from '../../documents/originals.ts';
import { measureReports, takeSome } from '../../documents/stored-bytes.ts';
import type { Db, Queries, Tx } from '../../engine/database.ts';
import { orDivided } from '../../engine/dialect.ts';
import { insertAudit, plumbline } from '../../events/audit.ts';
import { isOfDomain, lockDomain } from '../../lists/heads.ts';
import type { Tables } from '../../tables.ts';
import { readNow } from '../../work/clock.ts';
import { correctLastReport, deleteReports } from '../removal.ts';
import type { ReportRow } from '../report-row.ts';

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
  readonly mayGoOn: () => Promise<boolean>;
}

/** What goes, or would go. */
export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** Takes one step after the other at each place, until nothing is left there (undefined) or it may not go on. */
export async function runSteps<Place>(
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

/**
 * With the bytes of their contents and originals. Each transaction takes reports of one day. Doing it twice does no harm. The
 * audit of each account says how many of its reports went.
 */
export async function pruneReports(db: Db, retention: Retention): Promise<Amount> {
  const byAccount = new Map<string, number>();
  const places = listPrunable(db, retention);
  const amount = await runSteps(places, retention.mayGoOn, async ({ domainId, until }) => {
    const some = await db.write((tx) => deleteOldest(tx, domainId, until));
    const domain = db.selectFrom('domain').select('account_id').where('id', '=', domainId);
    const accountId = (await domain.executeTakeFirst())?.account_id;
    if (some && accountId) byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + some.count);
    return some;
  });
  for (const [accountId, count] of byAccount)
    await db.write((tx) => insertAged(tx, { accountId, count, before: retention.before }));
  return amount;
}

async function insertAged(
  tx: Tx,
  { accountId, count, before }: { accountId: string; count: number; before: Day },
): Promise<void> {
  const account = tx.selectFrom('account').select('id').where('id', '=', accountId);
  if ((await account.executeTakeFirst()) === undefined) return;
  const entry = { action: 'reports_aged', detail: `of days before ${before}` } as const;
  const at = await readNow(tx);
  const subject = pluralize(count, 'report');
  await insertAudit(tx, plumbline(at), { ...entry, accountId, subject, isQuiet: true });
}

/** What would go. */
export async function measurePrunable(db: Db, retention: Retention): Promise<Amount> {
  let [count, bytes] = [0, 0];
  for await (const { domainId, until } of listPrunable(db, retention)) {
    const stored = db.selectFrom('report').where(isOfDomain(domainId));
    const old = stored
      .select(({ fn }) => fn.countAll().as('reports'))
      .where('begin_date', '<=', `${until}T23:59:59Z`);
    const reports = Number((await old.executeTakeFirst())?.reports ?? 0);
    count += reports;
    bytes += reports * (await measureAverage(db, domainId));
  }
  return { count, bytes: Math.round(bytes) };
}

/** The bytes of a report, as those of its oldest say. */
async function measureAverage(db: Db, domainId: string): Promise<number> {
  const oldest = selectOldest(db, domainId).orderBy('begin_date').orderBy('seq');
  const measured = await measureReports(db, await oldest.execute());
  const sum = measured.reduce((all, { bytes }) => all + bytes, 0);
  return sum / Math.max(1, measured.length);
}

/** The domains of accounts that have a day that may go, with the last such day. */
async function* listPrunable(db: Db, { before }: Retention) {
  const until = addDays(before, -1);
  for await (const domainId of listDomainsWithReports(db)) {
    const reports = db.selectFrom('report').select('seq').where(isOfDomain(domainId));
    const old = reports.where('begin_date', '<=', `${until}T23:59:59Z`).limit(1);
    if ((await old.executeTakeFirst()) !== undefined) yield { domainId, until };
  }
}

/** On several servers its heads say so: each server would have to be asked for each domain. */
const HAS_REPORTS = orDivided(
  sql<SqlBool>`exists (select seq from report where domain_seq = domain.seq)`,
  sql<SqlBool>`domain.reports_total + domain.tls_total > 0`,
);

/** The domains of accounts. */
export async function* listDomainsWithReports(db: Db): AsyncGenerator<string> {
  const domains = db
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('account_id', 'is not', null)
    .where(HAS_REPORTS);
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

/** Some reports of a domain's oldest day, in the transaction of the caller; undefined when there are none. */
export async function deleteOldest(
  tx: Tx,
  domainId: string,
  until: Day = toDay(END_OF_TIME),
): Promise<Amount | undefined> {
  await lockDomain(tx, domainId);
  const [oldest] = await selectOldest(tx, domainId).orderBy('begin_date').limit(1).execute();
  const day = oldest && toDay(oldest.begin_date);
  if (day === undefined || day > until) return undefined;
  const rows = await selectOldest(tx, domainId)
    .where('begin_date', '>=', `${day}T00:00:00Z`)
    .where('begin_date', '<=', `${day}T23:59:59Z`)
    .orderBy('begin_date')
    .orderBy('seq')
    .execute();
  return await deleteSome(tx, domainId, rows);
}

function selectOldest(db: Queries, domainId: string) {
  const reports = db.selectFrom('report').selectAll().where(isOfDomain(domainId));
  return reports.limit(REPORTS_AT_ONCE);
}

/** As many of the first as one transaction deletes, with their conflicts and documents. All are of one domain. */
export async function deleteSome(
  tx: Tx,
  domainId: string,
  rows: readonly ReportRow[],
): Promise<Amount> {
  const old = takeSome(await measureReports(tx, rows));
  const reports = old.map(({ report }) => report);
  if (reports.length === 0) return { count: 0, bytes: 0 };
  const [begins, ids] = [reports.map((one) => one.begin_date), reports.map(({ id }) => id)];
  // The whole key (decision 90).
  const conflicts = tx.deleteFrom('conflict').where(isOfDomain(domainId));
  await conflicts.where('begin_date', 'in', begins).where('report_id', 'in', ids).execute();
  await deleteReports(tx, domainId, reports);
  await correctLastReport(tx, domainId, reports);
  const documents = old.flatMap(({ documents }) => documents);
  await deleteDocuments(tx, documents);
  const bytes = old.reduce((sum, one) => sum + one.bytes, 0);
  return { count: reports.length, bytes };
}
