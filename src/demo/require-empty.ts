import { Failure } from '../domain/failure.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import { listUnclaimed } from '../store/accounts/unclaimed.ts';
import type { Db } from '../store/connection/database.ts';

/**
 * Throws `conflict` for a database that has accounts or reports: made-up data, and the sandbox's published key,
 * must not get into it.
 */
export async function requireEmpty(db: Db): Promise<void> {
  const accounts = await listAccounts(db);
  const { total } = await listUnclaimed(db, { limit: 1 });
  if (accounts.length > 0 || total > 0)
    throw new Failure('conflict', 'The database has data already: give an empty one.');
}
