import { DAY_MS, type Instant, toInstant } from '../domain/instant.ts';
import { SANDBOX_ACCOUNT_ID, SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../domain/sandbox.ts';
import { fireAlert, settleAlert } from '../store/alerts/alerts.ts';
import { insertDomain } from '../store/domains/domains.ts';
import type { Db } from '../store/engine/database.ts';
import type { Store } from '../store/engine/store.ts';
import { ingestDemo, insertDemoAccount } from './demo-data.ts';

const WAITING = 'waiting.example';

/**
 * Fills an empty store for partners without an account: the demo's data, a domain that waits for its first report, an alert of
 * a type that v1.yaml does not list, and one with a null in its context.
 */
export async function fillSandbox(store: Store, today: Date): Promise<void> {
  const ids = SANDBOX_DOMAIN_IDS;
  const fixed = { id: SANDBOX_ACCOUNT_ID, key: SANDBOX_KEY, ids };
  const account = await insertDemoAccount(store.db, today, fixed);
  await ingestDemo(store, account, today);
  const [accountId, now] = [account.account_id, toInstant(today)];
  await insertDomain(store.db, { accountId, name: WAITING, now, id: ids[WAITING] });
  const owner = { accountId, domainId: account.domains[0]?.id as string };
  await insertUnlistedAlert(store.db, owner, now);
  await insertAddedRecord(store.db, owner, today);
}

interface AlertOwner {
  readonly accountId: string;
  readonly domainId: string;
}

/** Later versions add types, so clients have to accept one that they do not know. */
async function insertUnlistedAlert(db: Db, owner: AlertOwner, firedAt: Instant): Promise<void> {
  const context = { note: 'Clients do not know this type. It is an alert like any other.' };
  const type = 'alert.sandbox_notice';
  await db.write((tx) => fireAlert(tx, { ...owner, type, firedAt, context }));
}

/** A value of a context may be null: a record that was added had no value before. */
async function insertAddedRecord(db: Db, owner: AlertOwner, today: Date): Promise<void> {
  const context = {
    record_type: 'spf',
    record_name: 'example.com',
    change: 'added',
    previous_value: null,
    current_value: 'v=spf1 ip4:192.0.2.10 include:news.example -all',
  };
  const firedAt = toInstant(new Date(today.getTime() - 10 * DAY_MS));
  const type = 'alert.dns_record_changed';
  const resolvedAt = toInstant(new Date(today.getTime() - 3 * DAY_MS));
  const resolved = JSON.stringify({ ...context, resolution: 'new_normal' });
  await db.write(async (tx) => {
    const id = await fireAlert(tx, { ...owner, type, firedAt, context });
    await settleAlert(tx, id as string, { resolved_at: resolvedAt, context: resolved });
  });
}
