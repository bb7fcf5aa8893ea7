import { hashSecret } from '../../domain/access/secret.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Queries, Tx } from '../engine/database.ts';

/* Tokens that a person uses once: one-time links, and sign-ins that wait for a code. Their hashes are stored. */

type TokenTable = 'one_time_link' | 'pending_sign_in';

export interface TokenHolder {
  readonly personId: string;
  readonly email: string;
  readonly accountId: string;
}

/** The person that a token was made for, if it is still valid. */
export async function findTokenHolder(
  db: Queries,
  table: TokenTable,
  { token, now }: { readonly token: string; readonly now: Instant },
): Promise<TokenHolder | undefined> {
  const holders = db
    .selectFrom(table)
    .select('person_id')
    .where('sha256', '=', hashSecret(token))
    .where('expires_at', '>', now);
  return await db
    .selectFrom('person')
    .select(['id as personId', 'email', 'account_id as accountId'])
    .where('id', 'in', holders)
    .where('disabled', '=', 0)
    .executeTakeFirst();
}

/** Returns whether it was valid: of two requests with the same one, the second gets false. */
export async function spendToken(
  tx: Tx,
  table: TokenTable,
  {
    personId: person_id,
    token,
    now,
  }: { readonly personId: string; readonly token: string; readonly now: Instant },
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where(({ and }) => and({ sha256: hashSecret(token), person_id }))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
