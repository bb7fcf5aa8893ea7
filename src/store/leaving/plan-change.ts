import type { AccountPlan } from '../../domain/access/api-key.ts';
import { lockAccount } from '../accounts/accounts.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import { disableWebhooks } from '../notify/webhooks.ts';

/**
 * Leaving Pro disables all of the account's keys and webhooks in the same transaction, and returns the keys' names and how many
 * webhooks were on; returning to Pro enables none.
 */
export function updatePlan(db: Db, accountId: string, plan: AccountPlan, by: Actor = operator()) {
  return db.write(async (tx) => {
    const account = await lockAccount(tx, accountId);
    await tx.updateTable('account').set({ plan }).where('id', '=', accountId).execute();
    const entry = { accountId, subject: account.name, detail: plan };
    if (account.plan !== plan) await insertAudit(tx, by, { ...entry, action: 'plan_changed' });
    const disabledKeys = plan === 'pro' ? [] : await disableApiKeys(tx, accountId, by);
    const disabledWebhooks = plan === 'pro' ? 0 : await disableWebhooks(tx, accountId, by);
    return { ...account, plan, disabledKeys, disabledWebhooks };
  });
}

async function disableApiKeys(tx: Tx, accountId: string, by: Actor): Promise<string[]> {
  const keys = await tx
    .updateTable('api_key')
    .set({ enabled: 0 })
    .where(({ and }) => and({ account_id: accountId, enabled: 1 }))
    .returning(['name', 'prefix'])
    .execute();
  for (const { name: subject, prefix: detail } of keys)
    await insertAudit(tx, by, { accountId, action: 'key_disabled_by_plan', subject, detail });
  return keys.map(({ name }) => name);
}
