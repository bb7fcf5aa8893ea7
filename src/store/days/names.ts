import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { addDays, type Instant, toDay } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runPrepared } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import { lockDomain, touchDays } from '../lists/heads.ts';

/*
 * Names of sources in DNS, which a job looks up and pages read. A name belongs to a domain and an address, so an
 * address that sends for several domains is looked up for each.
 */

/** Names by address. */
type Names = ReadonlyMap<string, string>;

/** @internal A test reads its query plan. */
export const allNames = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('source_name')
    .select(['address', 'name'])
    .where('domain_id', '=', param('domainId'))
    .where('name', 'is not', null)
    .orderBy('address')
    .$narrowType<{ name: string }>(),
);

/** The names of a domain's sources, some thousands. One that has expired stays until it is looked up again. */
export async function readAllNames(reader: Reader, domainId: string): Promise<Names> {
  const rows = await reader.readAll(allNames({ domainId }));
  return new Map(rows.map(({ address, name }) => [address, name]));
}

/** Addresses whose names, or that they have none, are known. */
export const unexpired = prepareQuery(
  (db, param: Param<{ domainId: string; now: Instant; limit: number }>) =>
    db
      .selectFrom('source_name')
      .select('address')
      .where('domain_id', '=', param('domainId'))
      .where('expires_at', '>', param('now'))
      .limit(param('limit')),
);

export interface SourceName {
  readonly address: string;
  /** null: the address has none. undefined: no server answered, so a former name stays. */
  readonly name: string | null | undefined;
  readonly expiresAt: Instant;
}

/** How many days an expired name is kept. Names of addresses that still send are looked up again before that. */
const KEPT_DAYS = 7;

/** Stores names of a domain, which replace former ones, and deletes names that expired long ago. */
export async function updateNames(
  db: Db,
  { domainId, now }: { readonly domainId: string; readonly now: Instant },
  names: readonly SourceName[],
): Promise<void> {
  const until = `${addDays(toDay(now), -KEPT_DAYS)}${now.slice(10)}`;
  await db.write(async (tx) => {
    await lockDomain(tx, domainId);
    const listNames = () => runPrepared(tx, allNames({ domainId }));
    const before = await listNames();
    const known = tx.deleteFrom('source_name').where('domain_id', '=', domainId);
    await known.where('expires_at', '<', until).execute();
    const isAnswered = ({ name }: SourceName) => name !== undefined;
    const unanswered = names.filter((name) => !isAnswered(name));
    await upsertNames(tx, domainId, names.filter(isAnswered), ['name', 'expires_at']);
    await upsertNames(tx, domainId, unanswered, ['expires_at']);
    if (!isDeepStrictEqual(before, await listNames())) await touchDays(tx, domainId);
  });
}

async function upsertNames(
  tx: Tx,
  domainId: string,
  names: readonly SourceName[],
  replaced: readonly ('name' | 'expires_at')[],
): Promise<void> {
  if (names.length === 0) return;
  const rows = names.map(({ address, name = null, expiresAt }) => ({
    domain_id: domainId,
    address,
    name,
    expires_at: expiresAt,
  }));
  const changes = replaced.map((column) => [column, sql.ref(`excluded.${column}`)]);
  await tx
    .insertInto('source_name')
    .values(rows)
    .onConflict((oc) =>
      oc.columns(['domain_id', 'address']).doUpdateSet(Object.fromEntries(changes)),
    )
    .execute();
}
