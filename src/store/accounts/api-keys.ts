import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { assertCanHaveKey, generateApiKey, toNewApiKey } from '../../domain/access/api-key.ts';
import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { parseDisplayName } from '../../domain/display-name.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import type { Tables } from '../tables.ts';
import { findAccount, lockAccount } from './accounts.ts';

export type ApiKey = Readonly<ReturnType<typeof toApiKey>>;

export type KeyHolder = Readonly<RowOfQuery<typeof keyHolder>>;

const TIMES = ['created_at', 'last_used_at', 'expires_at'] as const;
const COLUMNS = ['id', 'name', 'prefix', 'enabled', ...TIMES] as const;

interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly now: Instant;
  /** A key without it does not expire. */
  readonly expiresAt?: Instant | null | undefined;
  readonly key?: string | undefined;
}

/* Each change of a key is recorded with its actor in one transaction. A person finds no keys of other accounts. */

/** The result is the only place that has the whole key. Only the sandbox gives its own `key`. */
export async function insertApiKey(
  db: Db,
  { accountId, name, now, expiresAt = null, key: given }: NewKey,
  by: Actor = operator(now),
): Promise<ApiKey & { readonly key: string }> {
  const keyName = parseDisplayName(name, 'A key');
  const { key, prefix, sha256 } = given === undefined ? generateApiKey() : toNewApiKey(given);
  const row = {
    id: randomUUID(),
    account_id: accountId,
    name: keyName,
    prefix,
    enabled: 1 as const,
    created_at: now,
    last_used_at: null,
    expires_at: expiresAt,
    sha256,
  };
  await db.write(async (tx) => {
    const account = await lockAccount(tx, accountId);
    assertCanHaveKey(account.plan, (await listApiKeys(tx, accountId)).length);
    await tx.insertInto('api_key').values(row).execute();
    await auditKey(tx, by, 'key_created', row);
  });
  return { ...toApiKey(row), key };
}

export async function listApiKeys(db: Queries, accountId: string): Promise<ApiKey[]> {
  await findAccount(db, accountId);
  const keys = db.selectFrom('api_key').select(COLUMNS).where('account_id', '=', accountId);
  return (await keys.orderBy('created_at').orderBy('id').execute()).map(toApiKey);
}

/** Throws `plan_required` when the key may not be on. */
export async function updateApiKey(db: Db, id: string, isEnabled: boolean, by: Actor = operator()) {
  return await db.write(async (tx) => {
    const key = await lockApiKey(tx, id, by);
    if (isEnabled) assertCanHaveKey(key.plan);
    const enabled = isEnabled ? 1 : 0;
    if (key.enabled !== enabled) {
      await tx.updateTable('api_key').set({ enabled }).where('id', '=', id).execute();
      await auditKey(tx, by, isEnabled ? 'key_enabled' : 'key_disabled', key);
    }
    return toApiKey({ ...key, enabled });
  });
}

export async function deleteApiKey(db: Db, id: string, by: Actor = operator()): Promise<ApiKey> {
  return await db.write(async (tx) => {
    const key = await lockApiKey(tx, id, by);
    await tx.deleteFrom('api_key').where('id', '=', id).execute();
    await auditKey(tx, by, 'key_deleted', key);
    return toApiKey(key);
  });
}

async function auditKey(
  tx: Tx,
  by: Actor,
  action: AuditAction,
  key: Pick<Tables['api_key'], 'account_id' | 'name' | 'prefix'>,
): Promise<void> {
  const { account_id: accountId, name: subject, prefix: detail } = key;
  await insertAudit(tx, by, { accountId, action, subject, detail });
}

/** Throws `not_found`, also when the key belongs to another account. */
export async function findApiKey(db: Db, accountId: string, id: string): Promise<ApiKey> {
  return toApiKey(await selectApiKey(db, id, accountId));
}

const keyHolder = prepareQuery((db, param: Param<{ sha256: Uint8Array }>) =>
  db
    .selectFrom('api_key')
    .select(['id as keyId', 'account_id as accountId', 'last_used_at as lastUsedAt'])
    .select('expires_at as expiresAt')
    .where('sha256', '=', param('sha256'))
    .where('enabled', '=', 1)
    // SQLite runs this three times as fast as the equivalent join.
    .where(
      (eb) => eb.selectFrom('account').select('plan').whereRef('account.id', '=', 'account_id'),
      '=',
      'pro',
    ),
);

/** The holder of an enabled key of an account on Pro. The caller checks expiry, which depends on the time. */
export async function findKeyHolder(reader: Reader, sha256: Uint8Array) {
  return (await reader.readFirst(keyHolder({ sha256 })))[0];
}

/** A key, with its account. */
export const keyOfAccount = prepareQuery((db, param: Param<{ keyId: string }>) =>
  db
    .selectFrom('api_key')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['api_key.name', 'prefix', 'api_key.created_at', 'expires_at'])
    .select(['account.name as account', 'plan'])
    .where('api_key.id', '=', param('keyId')),
);

/** `last_used_at` is written at most this often for each key. */
export const USE_EVERY_MS = 60_000;

/** Changes no row of a key that was deleted, or of one whose use another process has written meanwhile. */
export async function updateLastUsed(db: Db, uses: ReadonlyMap<string, Instant>): Promise<void> {
  await db.write(async (tx) => {
    // The order of ids: so two processes that have used the same keys do not wait for each other.
    for (const [id, usedAt] of [...uses].sort())
      await tx
        .updateTable('api_key')
        .set({ last_used_at: usedAt })
        .where('id', '=', id)
        .where(({ eb, or }) =>
          or([
            eb('last_used_at', 'is', null),
            eb('last_used_at', '<=', later(usedAt, -USE_EVERY_MS)),
          ]),
        )
        .execute();
  });
}

/** Locks the account, and so the key against other changes. */
async function lockApiKey(tx: Tx, id: string, { accountId }: Actor) {
  const { account_id } = await selectApiKey(tx, id, accountId);
  const { plan } = await lockAccount(tx, account_id);
  return { ...(await selectApiKey(tx, id, accountId)), plan };
}

async function selectApiKey(db: Queries, id: string, accountId: string | undefined) {
  return await db
    .selectFrom('api_key')
    .select([...COLUMNS, 'account_id'])
    .where('id', '=', id)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId as string))
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No API key has the id ${id}.`));
}

function toApiKey(row: Pick<Selectable<Tables['api_key']>, (typeof COLUMNS)[number]>) {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    /** The key is not accepted from then on; null when it does not expire. */
    expiresAt: row.expires_at,
  };
}
