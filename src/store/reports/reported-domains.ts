import { randomUUID } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import { reverse } from '../../domain/domain-name.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { hasReceivers } from '../events/events.ts';
import { newVersion } from '../lists/heads.ts';
import type { DomainStatus, Tables } from '../tables.ts';

/** A locked domain. Without an account it is unclaimed. */
export interface ReportedDomain {
  readonly id: string;
  readonly seq: number;
  readonly name: string;
  readonly accountId: string | null;
  readonly status: DomainStatus;
  readonly lastReportAt: Instant | null;
  /** The newest change of its account. */
  readonly number: number | null;
  readonly nonce: string | null;
  /** Whether anybody receives events of its account, of either kind of report. */
  readonly isReceived: SqlBool;
  readonly isTlsReceived: SqlBool;
}

/** Whether its account's list has its reports. */
export function isListed({ accountId, status }: ReportedDomain): boolean {
  return accountId !== null && status === 'active';
}

/** A new name is inserted as unclaimed. */
export async function findOrInsertDomain(
  tx: Tx,
  name: string,
  now: Instant,
  id?: string,
): Promise<ReportedDomain> {
  const [known] = await lockReportedDomains(tx, [name]);
  if (known !== undefined) return known;
  const [inserted] = await insertReportedDomains(tx, [{ name, id }], now);
  return inserted as ReportedDomain;
}

interface NewName {
  readonly name: string;
  readonly id?: string | undefined;
}

/** For names of which most are new: inserts those as unclaimed, and returns all by name. */
export async function insertReportedDomains(
  tx: Tx,
  names: readonly NewName[],
  now: Instant,
): Promise<ReportedDomain[]> {
  // In the order in which all transactions insert them.
  const rows = names.map((name) => toRow(name, now)).sort((a, b) => (a.name < b.name ? -1 : 1));
  await runAllPrepared(tx, domainInserts(rows));
  const all = rows.map(({ name }) => name);
  return await lockReportedDomains(tx, all);
}

const COLUMNS = [
  'id',
  'name',
  'reversed',
  'created_at',
  'reports_version',
  'alerts_version',
] as const;
type NewDomain = Pick<Tables['domain'], (typeof COLUMNS)[number]>;

function toRow({ name, id = randomUUID() }: NewName, now: Instant): NewDomain {
  const versions = { reports_version: newVersion(), alerts_version: newVersion() };
  return { id, name, reversed: reverse(name), created_at: now, ...versions };
}

const domainInserts = prepareRows(COLUMNS, (db, rows: readonly RowOf<NewDomain>[]) =>
  db
    .insertInto('domain')
    .values(rows.map((row) => ({ ...row, status: 'active' as const })))
    // Another process may have inserted it meanwhile.
    .onConflict((oc) => oc.column('name').doNothing()),
);

/**
 * The known domains with these names, by name. Their rows are locked until the transaction ends: whoever changes what
 * belongs to a domain holds its row (decision 64). Locking all of them in order keeps two transactions from waiting for
 * each other.
 */
export async function lockReportedDomains(
  tx: Tx,
  names: readonly string[],
): Promise<ReportedDomain[]> {
  if (names.length === 0) return [];
  const given = { names: JSON.stringify(names) };
  // For a query that has a table of the coordinator too, Citus locks rows on the coordinator alone (decision 134).
  const locks = dialectOf(tx).isDivided ? [lockedRows(given)] : [];
  const read = await runAllPrepared<object>(tx, [...locks, lockedDomains(given)]);
  return read.at(-1) as ReportedDomain[];
}

const lockedRows = prepareQuery((db, param: Param<{ names: string }>) =>
  db
    .selectFrom('domain')
    .select('id')
    .where(dialectOf(db).isIn(sql.ref('name'), param('names'), 'text'))
    .orderBy('name')
    .$call(dialectOf(db).locked),
);

const lockedDomains = prepareQuery((db, param: Param<{ names: string }>) =>
  db
    .selectFrom('domain')
    .select(['id', 'seq', 'name', 'account_id as accountId', 'status'])
    .select('last_report_at as lastReportAt')
    .select(({ selectFrom }) => {
      const account = selectFrom('account').whereRef('account.id', '=', 'domain.account_id');
      return [account.select('changes').as('number'), account.select('changes_nonce').as('nonce')];
    })
    .select([
      hasReceivers(sql.ref('domain.account_id'), 'report.received').as('isReceived'),
      hasReceivers(sql.ref('domain.account_id'), 'tls_report.received').as('isTlsReceived'),
    ])
    .where(dialectOf(db).isIn(sql.ref('name'), param('names'), 'text'))
    .orderBy('name')
    .$call(dialectOf(db).locked),
);
