import { createMailToken, isMailToken } from '../../domain/access/mail-token.ts';
import { Failure } from '../../domain/failure.ts';
import type { Db, Queries } from '../connection/database.ts';
import { lockAccount } from './accounts.ts';

/* The address for reports that each account has of its own: <token>@<our host>. */

/** The account whose address has this local part, in lower case. */
export async function findAccountByToken(db: Queries, token: string): Promise<string | undefined> {
  if (!isMailToken(token)) return undefined;
  const row = await db
    .selectFrom('account')
    .select('id')
    .where('mail_token', '=', token)
    .executeTakeFirst();
  return row?.id;
}

/** Throws `not_found` when no account has the id. */
export async function findMailToken(db: Queries, accountId: string): Promise<string> {
  const row = await db
    .selectFrom('account')
    .select('mail_token')
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (row?.mail_token == null)
    throw new Failure('not_found', `No account has the id ${accountId}.`);
  return row.mail_token;
}

/** Gives the account a new token. Mail to the former address is refused from then on. */
export async function updateMailToken(db: Db, accountId: string): Promise<string> {
  const token = createMailToken();
  await db.write(async (tx) => {
    await lockAccount(tx, accountId);
    await tx
      .updateTable('account')
      .set({ mail_token: token })
      .where('id', '=', accountId)
      .execute();
  });
  return token;
}
