import { Failure } from '../domain/failure.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import { listUnclaimed } from '../store/accounts/unclaimed.ts';
import type { Db } from '../store/engine/database.ts';
import { openStore, type Store } from '../store/engine/open.ts';

/**
 * Opens a database for made-up data. Throws `conflict` when it has accounts or reports, because the sandbox's
 * published key must not get into it.
 */
export async function openEmpty(...database: Parameters<typeof openStore>): Promise<Store> {
  const store = await openStore(...database);
  try {
    await requireEmpty(store.db);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function requireEmpty(db: Db): Promise<void> {
  const accounts = await listAccounts(db);
  const { total } = await listUnclaimed(db, { limit: 1 });
  if (accounts.length > 0 || total > 0)
    throw new Failure('conflict', 'The database has data already: give an empty one.');
}
