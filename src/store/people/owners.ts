import { Failure } from '../../domain/failure.ts';
import type { Actor } from '../accounts/audit.ts';
import type { Tx } from '../engine/database.ts';

/**
 * Throws `forbidden` when the actor is a person who is not an owner of their account, or not any more: the
 * account's lock is held, so a change by another owner that came first is seen. Operators may do everything.
 */
export async function requireOwner(tx: Tx, { personId, accountId }: Actor): Promise<void> {
  if (personId === undefined) return;
  const owner = await tx
    .selectFrom('person')
    .select('id')
    .where('id', '=', personId)
    .where('account_id', '=', accountId ?? '')
    .where('role', '=', 'owner')
    .where('disabled', '=', 0)
    .executeTakeFirst();
  if (owner === undefined) throw notOwner();
}

export function notOwner(): Failure {
  return new Failure('forbidden', 'Only an owner of the account can manage its people.');
}
