import { isDeepStrictEqual } from 'node:util';
import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { RECORD_TYPES, type RecordType } from '../../domain/dns/dns-record.ts';
import { type DnsRecordState, UNKNOWN_RECORD } from '../../domain/dns/dns-watch.ts';
import type { RouteFinding } from '../../domain/dns/report-route.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { touchDays } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';
import { isInShard, type Shard } from '../work/shards.ts';

type RecordRow = { record_type: RecordType; state: string };

export const listDnsRecords = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('dns_record')
    .select(['record_type', 'state'])
    .where('domain_id', '=', param('domainId'))
    .where('record_type', 'in', RECORD_TYPES)
    .$narrowType<RecordRow>(),
);

export function toDnsFacts(
  rows: readonly RecordRow[],
): Partial<Record<RecordType, DnsRecordState>> {
  return Object.fromEntries(rows.map(({ record_type, state }) => [record_type, JSON.parse(state)]));
}

export type DomainToCheck = { readonly id: string; readonly name: string };

interface ToCheck {
  readonly shard: Shard;
  readonly now: Instant;
  /** Domains with an answer from then until now are left out. */
  readonly since: Instant;
}

export function listDomainsToCheck(db: Db, { shard, now, since }: ToCheck) {
  const checked = db
    .selectFrom('dns_record')
    .select('dns_record.domain_id')
    .where('record_type', 'in', RECORD_TYPES)
    .where('checked_at', '>', since)
    .where('checked_at', '<=', now);
  return selectToCheck(db, shard, checked).execute();
}

/** The active domains of a shard but those that have one of the rows. */
export function selectToCheck(
  db: Db,
  shard: Shard,
  checked: SelectQueryBuilder<Tables, 'dns_record', { domain_id: string }>,
) {
  return db
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('account_id', 'is not', null)
    .where('status', '=', 'active')
    .where((eb) => isInShard(eb, shard))
    .where(({ not, exists }) =>
      not(exists(checked.where(sql<SqlBool>`dns_record.domain_id = domain.id`))),
    )
    .orderBy('id');
}

interface Checked {
  readonly domainId: string;
  readonly type: RecordType;
  readonly at: Instant;
  /** The state after the check, given the state before it. */
  readonly update: (known: DnsRecordState) => DnsRecordState;
}

/** Ignores state from before the domain was last resumed. Stores nothing for a domain paused during the query. */
export async function updateDnsRecord(db: Db, { domainId, type, at, update }: Checked) {
  await db.write(async (tx) => {
    const domain = await tx
      .selectFrom('domain')
      .select('watched_since')
      .where('id', '=', domainId)
      .where('status', '=', 'active')
      .$call(dialectOf(tx).locked)
      .executeTakeFirst();
    if (domain === undefined) return;
    const known = await tx
      .selectFrom('dns_record')
      .select(['state', 'checked_at'])
      .where('domain_id', '=', domainId)
      .where('record_type', '=', type)
      .executeTakeFirst();
    const isStale = known === undefined || known.checked_at < (domain.watched_since ?? '');
    const before = isStale ? UNKNOWN_RECORD : JSON.parse(known.state);
    const after = update(before);
    const state = JSON.stringify(after);
    await upsertRecord(tx, { domain_id: domainId, record_type: type, checked_at: at, state });
    if (isStale || !isDeepStrictEqual(before.confirmed, after.confirmed))
      await touchDays(tx, domainId);
  });
}

export async function upsertRecord(tx: Tx, row: Tables['dns_record']): Promise<void> {
  await tx
    .insertInto('dns_record')
    .values(row)
    .onConflict((oc) => oc.columns(['domain_id', 'record_type']).doUpdateSet(row))
    .execute();
}

/*
 * What DNS said when a person last asked whether reports about a domain can come. A type of DNS record of its own,
 * which neither alerts nor the hourly checks read.
 */

const ROUTE = 'route';
/** DNS can hold any text, and a finding quotes it. */
const MAX_CHARACTERS = 1_000;

export interface RouteCheck {
  readonly checkedAt: Instant;
  readonly findings: readonly RouteFinding[];
}

export async function findRouteCheck(
  db: Queries,
  domainId: string,
): Promise<RouteCheck | undefined> {
  const records = db.selectFrom('dns_record').select(['checked_at', 'state']);
  const own = records.where('domain_id', '=', domainId).where('record_type', '=', ROUTE);
  const row = await own.executeTakeFirst();
  return row && { checkedAt: row.checked_at, findings: JSON.parse(row.state) };
}

export async function updateRouteCheck(db: Db, domainId: string, check: RouteCheck): Promise<void> {
  const short = check.findings.map((finding) => ({ ...finding, text: toShort(finding.text) }));
  const row = { domain_id: domainId, record_type: ROUTE, checked_at: check.checkedAt } as const;
  await db.write((tx) => upsertRecord(tx, { ...row, state: JSON.stringify(short) }));
}

function toShort(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)} …`;
}
