import { createMailToken, isMailToken } from '../../domain/access/mail-token.ts';
import type { Db, Queries } from '../engine/database.ts';
import { insertAudit, operator } from '../events/audit.ts';
import { lockAccount, noAccount } from './accounts.ts';

/* Each account's own address for reports: <token>@<our host>. */

/** The account whose address has this local part, in lower case. */
export async function findAccountByToken(db: Queries, token: string): Promise<string | undefined> {
  if (!isMailToken(token)) return undefined;
  const account = db.selectFrom('account').select('id').where('mail_token', '=', token);
  return (await account.executeTakeFirst())?.id;
}

/** Throws `not_found`. */
export async function findMailToken(db: Queries, accountId: string): Promise<string> {
  const account = db.selectFrom('account').select('mail_token').where('id', '=', accountId);
  return (await account.executeTakeFirstOrThrow(() => noAccount(accountId))).mail_token;
}

export interface ReportAddresses {
  /** The domain of the accounts' own addresses. */
  readonly mailHost?: string | undefined;
  /** The address for the reports of all domains, when there is one. */
  readonly reportAddress?: string | undefined;
  /** Further addresses that our mail server accepts. */
  readonly smtpRecipients?: readonly string[] | undefined;
}

/** The addresses that a domain's record may name. The first one is to be published. */
export async function listReportAddresses(
  db: Queries,
  accountId: string | null,
  { mailHost, reportAddress, smtpRecipients = [] }: ReportAddresses,
): Promise<readonly string[]> {
  const hasOwn = mailHost !== undefined && accountId !== null;
  const own = hasOwn ? [`${await findMailToken(db, accountId)}@${mailHost}`] : [];
  const first = reportAddress === undefined ? [] : [reportAddress];
  return [...new Set([...first, ...own, ...smtpRecipients])];
}

/** Mail to the former address is refused from then on. */
export async function updateMailToken(db: Db, accountId: string) {
  const mail_token = createMailToken();
  await db.write(async (tx) => {
    const { name: subject } = await lockAccount(tx, accountId);
    await tx.updateTable('account').set({ mail_token }).where('id', '=', accountId).execute();
    await insertAudit(tx, operator(), { accountId, action: 'address_renewed', subject });
  });
  return mail_token;
}
