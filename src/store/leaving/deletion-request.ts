import type { Instant } from '../../domain/instant.ts';
import { lockAccount } from '../accounts/accounts.ts';
import type { Db, Queries } from '../engine/database.ts';
import { type Actor, insertAudit } from '../events/audit.ts';
import { requireOwner } from '../people/people.ts';

/* An owner asks for the deletion of the account; the operator deletes it, or an owner takes it back. */

export type DeletionRequest = { readonly at: Instant; readonly by: string };

export async function findDeletionRequest(db: Queries, accountId: string) {
  const account = db.selectFrom('account').select(['deletion_asked_at', 'deletion_asked_by']);
  const row = await account.where('id', '=', accountId).executeTakeFirst();
  if (!row?.deletion_asked_at || !row.deletion_asked_by) return undefined;
  return { at: row.deletion_asked_at, by: row.deletion_asked_by };
}

/** The first request counts. Throws `forbidden` for who is no owner any more. */
export async function askForDeletion(db: Db, accountId: string, by: Actor): Promise<void> {
  await change(db, accountId, { by, request: { at: by.at, by: by.name } });
}

export async function takeBackDeletion(db: Db, accountId: string, by: Actor): Promise<void> {
  await change(db, accountId, { by, request: undefined });
}

async function change(
  db: Db,
  accountId: string,
  { by, request }: { readonly by: Actor; readonly request: DeletionRequest | undefined },
): Promise<void> {
  await db.write(async (tx) => {
    const { name: subject } = await lockAccount(tx, accountId);
    await requireOwner(tx, by);
    const known = await findDeletionRequest(tx, accountId);
    if ((known === undefined) === (request === undefined)) return;
    await tx
      .updateTable('account')
      .set({ deletion_asked_at: request?.at ?? null, deletion_asked_by: request?.by ?? null })
      .where('id', '=', accountId)
      .execute();
    const action = request === undefined ? 'deletion_taken_back' : 'deletion_asked';
    await insertAudit(tx, by, { accountId, action, subject });
  });
}
