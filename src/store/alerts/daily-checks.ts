import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import {
  addLooked,
  type LookedRecords,
  type SenderRecordsState,
  toTold,
} from '../../domain/dns/sender-records.ts';
import type { Instant } from '../../domain/instant.ts';
import {
  addTlsCheck,
  type CheckedTls,
  type TlsCheck,
  type TlsCheckState,
} from '../../domain/tls/tls-check.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { touchDays } from '../lists/heads.ts';
import type { Shard } from '../work/shards.ts';
import { type DomainToCheck, selectToCheck, upsertRecord } from './dns-records.ts';

/*
 * What daily checks found of a domain: of its TLS reports and MTA-STS, and of the records of its senders. Types of DNS records of
 * their own, which no alert reads.
 */

interface States {
  readonly tls: TlsCheckState;
  readonly senders: SenderRecordsState;
}

export type DailyType = keyof States;

/** The caller knows that the account has the domain. */
export const dailyCheckOf = prepareQuery(
  (db, param: Param<{ domainId: string; type: DailyType }>) =>
    db
      .selectFrom('dns_record')
      .select(['state', 'checked_at'])
      .where('domain_id', '=', param('domainId'))
      .where('record_type', '=', param('type')),
);

type Row = RowOfQuery<typeof dailyCheckOf>;

/** What was confirmed of TLS; undefined before. */
export function toChecked(row: Row | undefined): CheckedTls | undefined {
  const { confirmed = null }: Partial<TlsCheckState> = JSON.parse(row?.state ?? '{}');
  return confirmed === null || row === undefined
    ? undefined
    : { ...confirmed, checkedAt: row.checked_at };
}

/** What is told of the records of senders; the time is null before something of them was confirmed. */
export function toSenderRecords(row: Row | undefined) {
  const told = toTold(row && JSON.parse(row.state));
  const isAny = [...told.spf, ...told.keys].some(({ confirmed }) => confirmed !== null);
  return { ...told, checkedAt: (isAny && row?.checked_at) || null };
}

interface Due {
  readonly type: DailyType;
  readonly shard: Shard;
  readonly now: Instant;
  /** Domains that were checked from then until now are left out. */
  readonly since: Instant;
  /** The same of those whose last check found something new, which the next one confirms. */
  readonly sinceNew: Instant;
}

export type DueDomain = DomainToCheck & { readonly accountId: string };

export function listDueDomains(
  db: Db,
  { type, shard, now, since, sinceNew }: Due,
): Promise<readonly DueDomain[]> {
  const isNew = sql<boolean>`state like '{"candidate":{%'`;
  const checked = db
    .selectFrom('dns_record')
    .select('dns_record.domain_id')
    .where('record_type', '=', type)
    .where('checked_at', '>', since)
    .where('checked_at', '<=', now)
    .where(({ or, eb }) => or([eb('checked_at', '>', sinceNew), eb.not(isNew)]));
  const domains = selectToCheck(db, shard, checked);
  return domains.select(sql<string>`account_id`.as('accountId')).execute();
}

interface Found<Looked> {
  readonly domainId: string;
  readonly at: Instant;
  readonly found: Looked;
  /** Whether a person asked. */
  readonly isAsked?: boolean;
}

/** Both store nothing for a domain that was paused or removed meanwhile. */
export function updateTlsCheck(db: Db, { found, isAsked, ...of }: Found<TlsCheck>): Promise<void> {
  return update(db, { ...of, type: 'tls' }, (known) => addTlsCheck(known, found, isAsked));
}

/** Steps are told by what was confirmed: something new makes another version of the domain's days. */
export function updateSenderRecords(
  db: Db,
  { found, isAsked, ...of }: Found<LookedRecords>,
): Promise<void> {
  const add = (known?: SenderRecordsState) => addLooked(known, found, isAsked);
  return update(db, { ...of, type: 'senders' }, add, toTold);
}

async function update<Type extends DailyType>(
  db: Db,
  { domainId, type, at }: { domainId: string; type: Type; at: Instant },
  add: (known: States[Type] | undefined) => States[Type],
  toVersion: (state: States[Type] | undefined) => unknown = () => undefined,
): Promise<void> {
  await db.write(async (tx) => {
    const domain = await tx
      .selectFrom('domain')
      .select('id')
      .where('id', '=', domainId)
      .where('account_id', 'is not', null)
      .where('status', '=', 'active')
      .$call(dialectOf(tx).locked)
      .executeTakeFirst();
    if (domain === undefined) return;
    const own = tx.selectFrom('dns_record').select('state').where('domain_id', '=', domainId);
    const row = await own.where('record_type', '=', type).executeTakeFirst();
    const known: States[Type] | undefined = row && JSON.parse(row.state);
    const after = add(known);
    const state = JSON.stringify(after);
    await upsertRecord(tx, { domain_id: domainId, record_type: type, checked_at: at, state });
    if (!isDeepStrictEqual(toVersion(known), toVersion(after))) await touchDays(tx, domainId);
  });
}
