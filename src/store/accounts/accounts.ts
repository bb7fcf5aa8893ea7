import { randomUUID } from 'node:crypto';
import type { Plan } from '../../domain/api-key.ts';
import { parseDisplayName } from '../../domain/display-name.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../connection/database.ts';
import { newVersion } from '../lists/heads.ts';
import { insertPoint, newMark } from '../lists/points.ts';
import { alertList } from '../lists/timeline.ts';
import { type Actor, insertAudit, operator } from './audit.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
}

/** Creates an account. Throws `validation_error` for a name that is empty or too long. */
export async function insertAccount(
  db: Db,
  { name, plan, now }: { name: string; plan: Plan; now: Instant },
): Promise<Account> {
  const account = { id: randomUUID(), name: parseDisplayName(name, 'An account'), plan };
  const versions = { domains_version: newVersion(), alerts_version: newVersion() };
  const mark = newMark();
  await db.write(async (tx) => {
    await tx
      .insertInto('account')
      .values({ ...account, ...versions, alerts_mark: mark, created_at: now })
      .execute();
    await insertPoint(tx, alertList(account.id), { position: 0, mark });
  });
  return account;
}

export function listAccounts(db: Db): Promise<Account[]> {
  return db
    .selectFrom('account')
    .select(['id', 'name', 'plan'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Throws `not_found` when no account has the id. */
export async function findAccount(db: Queries, id: string): Promise<Account> {
  const account = await db
    .selectFrom('account')
    .select(['id', 'name', 'plan'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (account === undefined) throw new Failure('not_found', `No account has the id ${id}.`);
  return account;
}

/**
 * Leaving Pro disables all of the account's keys in the same transaction; returning to Pro enables none
 * (1.10).
 */
export async function updatePlan(
  db: Db,
  accountId: string,
  plan: Plan,
  by: Actor = operator(),
): Promise<Account> {
  return await db.write(async (tx) => {
    const account = await lockAccount(tx, accountId);
    await tx.updateTable('account').set({ plan }).where('id', '=', accountId).execute();
    if (plan !== 'pro') await disableApiKeys(tx, accountId, by);
    return { ...account, plan };
  });
}

async function disableApiKeys(tx: Tx, accountId: string, by: Actor): Promise<void> {
  const keys = await tx
    .updateTable('api_key')
    .set({ enabled: 0 })
    .where('account_id', '=', accountId)
    .where('enabled', '=', 1)
    .returning(['account_id', 'name', 'prefix'])
    .execute();
  for (const key of keys) await insertAudit(tx, by, { action: 'disabled_by_plan', key });
}

/**
 * The account, locked until the transaction ends, so that a rule that counts (at most ten keys) sees every
 * change made before it. An update without a change takes the row's lock on every engine.
 */
export async function lockAccount(tx: Tx, id: string): Promise<Account> {
  await tx
    .updateTable('account')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .execute();
  return await findAccount(tx, id);
}
