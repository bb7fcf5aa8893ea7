import { randomUUID } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { newNonce, pointInserts } from '../lists/points.ts';
import { alertList, reportList } from '../lists/timeline.ts';
import { hasReceivers } from '../notify/events.ts';
import type { DomainStatus, Tables } from '../tables.ts';

/** Without an account it is unclaimed. */
export interface ReportedDomain {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly accountId: string | null;
  /** Of the account (account-reports/). */
  readonly accountSeq: number | null;
  readonly status: DomainStatus;
  /** null unless it is joining the account's list (account-reports/). */
  readonly unlistedUntil: number | null;
  readonly lastReportAt: Instant | null;
  /** The newest point of its list of reports. */
  readonly position: number;
  readonly nonce: string;
  readonly generation: number;
  /** Whether anybody receives events of its account. */
  readonly isReceived: SqlBool;
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
  const inserted = (await runAllPrepared(tx, domainInserts(rows))).flat();
  await runAllPrepared(tx, pointInserts(inserted.flatMap(toPoints)));
  const all = rows.map(({ name }) => name);
  return await lockReportedDomains(tx, all);
}

const COLUMNS = [
  ...(['id', 'name', 'created_at', 'reports_version', 'reports_nonce'] as const),
  ...(['alerts_version', 'alerts_nonce'] as const),
] as const;
type NewDomain = Pick<Tables['domain'], (typeof COLUMNS)[number]>;

function toRow({ name, id = randomUUID() }: NewName, now: Instant): NewDomain {
  const versions = { reports_version: newVersion(), alerts_version: newVersion() };
  const nonces = { reports_nonce: newNonce(), alerts_nonce: newNonce() };
  return { id, name, created_at: now, ...versions, ...nonces };
}

type Nonces = Pick<NewDomain, 'id' | 'reports_nonce' | 'alerts_nonce'>;

function toPoints({ id, reports_nonce, alerts_nonce }: Nonces) {
  return [
    { listId: reportList(id), position: 0, nonce: reports_nonce },
    { listId: alertList(id), position: 0, nonce: alerts_nonce },
  ];
}

const domainInserts = prepareRows<NewDomain, Nonces>(COLUMNS, (db, rows) =>
  db
    .insertInto('domain')
    .values(rows.map((row) => ({ ...row, status: 'active' as const })))
    // Another process may have inserted it meanwhile.
    .onConflict((oc) => oc.column('name').doNothing())
    .returning(['id', 'reports_nonce', 'alerts_nonce']),
);

/**
 * The known domains with these names, by name. Their rows are locked until the transaction ends: whoever
 * changes what belongs to a domain holds its row, because the next position is read from it (decisions 58
 * and 64). Locking all of them in order keeps two transactions from waiting for each other.
 */
export async function lockReportedDomains(
  tx: Tx,
  names: readonly string[],
): Promise<ReportedDomain[]> {
  if (names.length === 0) return [];
  return await runPrepared(tx, lockedDomains({ names: JSON.stringify(names) }));
}

const lockedDomains = prepareQuery<{ names: string }, ReportedDomain>((db, param) =>
  db
    .selectFrom('domain')
    .select(['seq', 'id', 'name', 'account_id as accountId', 'status'])
    .select('last_report_at as lastReportAt')
    .select(['reports_position as position', 'reports_nonce as nonce'])
    .select(['reports_generation as generation', 'unlisted_until as unlistedUntil'])
    .select(({ selectFrom }) =>
      selectFrom('account')
        .select('seq')
        .whereRef('account.id', '=', 'domain.account_id')
        .as('accountSeq'),
    )
    .select(hasReceivers(sql.ref('domain.account_id'), 'report.').as('isReceived'))
    .where(dialectOf(db).isIn(sql.ref('name'), param('names'), 'text'))
    .orderBy('name')
    .$call(dialectOf(db).locked),
);
