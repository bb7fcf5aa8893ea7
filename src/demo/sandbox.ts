import { toInstant } from '../domain/instant.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../domain/sandbox.ts';
import { insertDomain } from '../store/accounts/domains.ts';
import { insertAlert } from '../store/alerts/alerts.ts';
import { openStore, type Store } from '../store/connection/open.ts';
import { type DemoAccount, ingestDemo, insertDemoAccount } from './demo-data.ts';

const WAITING = 'waiting.example';

export interface Sandbox {
  readonly store: Store;
  readonly account: DemoAccount;
}

/**
 * A store in memory for partners who have no account yet. It has the demo's data, a domain that waits for its
 * first report, and an alert of a type that v1.yaml does not list.
 */
export async function openSandbox(today: Date): Promise<Sandbox> {
  const store = await openStore(':memory:');
  const ids = SANDBOX_DOMAIN_IDS;
  const account = await insertDemoAccount(store.db, { today, key: SANDBOX_KEY, ids });
  await ingestDemo(store, account, today);
  const given = { accountId: account.account_id, now: toInstant(today) };
  const { id } = await insertDomain(store.db, { ...given, name: WAITING, id: ids[WAITING] });
  await insertNotice(store, { ...given, domainId: account.domains[0]?.id as string });
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
