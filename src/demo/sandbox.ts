import { toInstant } from '../domain/instant.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../domain/sandbox.ts';
import { insertDomain } from '../store/accounts/domains.ts';
import { insertAlert, settleAlert } from '../store/alerts/alerts.ts';
import type { Store } from '../store/engine/open.ts';
import { type DemoAccount, ingestDemo, insertDemoAccount } from './demo-data.ts';
import { openEmpty } from './open-empty.ts';

const WAITING = 'waiting.example';

export interface Sandbox {
  readonly store: Store;
  readonly account: DemoAccount;
}

/**
 * A store in memory, or on an empty database, for partners who have no account yet. It has the demo's data, a
 * domain that waits for its first report, an alert of a type that v1.yaml does not list, and one with a null in
 * its context.
 */
export async function openSandbox(today: Date, database = ':memory:'): Promise<Sandbox> {
  const store = await openEmpty(database);
  const ids = SANDBOX_DOMAIN_IDS;
  const account = await insertDemoAccount(store.db, { today, key: SANDBOX_KEY, ids });
  await ingestDemo(store, account, today);
  const given = { accountId: account.account_id, now: toInstant(today) };
  const { id } = await insertDomain(store.db, { ...given, name: WAITING, id: ids[WAITING] });
  const domainId = account.domains[0]?.id as string;
  await insertNotice(store, { ...given, domainId });
  await insertAddedRecord(store, { ...given, domainId, today });
  return {
    store,
    account: { ...account, domains: [...account.domains, { id, domain: WAITING }] },
  };
}

/** Types are added at any time (decision 1.16). This one tests that a client accepts an unknown type. */
async function insertNotice(
  { db }: Store,
  { accountId, domainId, now }: { accountId: string; domainId: string; now: string },
): Promise<void> {
  await insertAlert(db, {
    accountId,
    domainId,
    type: 'alert.sandbox_notice',
    firedAt: now,
    context: { note: 'Clients do not know this type. It is an alert like any other.' },
  });
}

const DAY_MS = 86_400_000;

/** A value of a context may be null: a record that was added had no value before. */
async function insertAddedRecord(
  { db }: Store,
  { accountId, domainId, today }: { accountId: string; domainId: string; today: Date },
): Promise<void> {
  const firedAt = toInstant(new Date(today.getTime() - 10 * DAY_MS));
  const context = {
    record_type: 'spf',
    record_name: 'example.com',
    change: 'added',
    previous_value: null,
    current_value: 'v=spf1 ip4:192.0.2.10 include:news.example -all',
  };
  const added = { accountId, domainId, type: 'alert.dns_record_changed', firedAt, context };
  const id = await insertAlert(db, added);
  const resolvedAt = toInstant(new Date(today.getTime() - 3 * DAY_MS));
  const resolved = JSON.stringify({ ...context, resolution: 'new_normal' });
  await db.write((tx) => settleAlert(tx, id, { resolved_at: resolvedAt, context: resolved }));
}
