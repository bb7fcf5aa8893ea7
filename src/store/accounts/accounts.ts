import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AccountPlan } from '../../domain/access/api-key.ts';
import { createMailToken } from '../../domain/access/mail-token.ts';
import { parseDisplayName } from '../../domain/display-name.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { insertAudit, operator } from '../events/audit.ts';
import { changeInserts, newNonce, toRow } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';

export type Account = Readonly<Pick<Selectable<Tables['account']>, (typeof COLUMNS)[number]>>;

const COLUMNS = ['id', 'name', 'plan'] as const;

interface NewAccount {
  readonly name: string;
  readonly plan: AccountPlan;
  readonly now: Instant;
  readonly allowDuplicate?: boolean | undefined;
  /** The demo's account has the same id in every run. */
  readonly id?: string | undefined;
}

/** Throws `validation_error` for an empty or too long name, and `conflict` for a name in use unless that is allowed. */
export async function insertAccount(
  db: Db,
  { name, plan, now, allowDuplicate = false, id = randomUUID() }: NewAccount,
): Promise<Account> {
  const account = { id, name: parseDisplayName(name, 'An account'), plan };
  const nonce = newNonce();
  await db.write(async (tx) => {
    if (!allowDuplicate) await requireNewName(tx, account.name);
    const { seq: accountSeq } = await tx
      .insertInto('account')
      .values({
        ...account,
        domains_version: newVersion(),
        all_domains_version: newVersion(),
        alerts_version: newVersion(),
        reports_version: newVersion(),
        changes_nonce: nonce,
        created_at: now,
        mail_token: createMailToken(),
      })
      .returning('seq')
      .executeTakeFirstOrThrow();
    // Before it, nothing is forgotten (lists/followed.ts).
    const first = toRow({ at: now }, { accountSeq, number: 0, nonce });
    await runAllPrepared(tx, changeInserts([first]));
    await insertAudit(tx, operator(now), {
      accountId: account.id,
      action: 'account_created',
      subject: account.name,
      detail: plan,
    });
  });
  return account;
}

/** Throws as `insertAccount` does. */
export async function updateAccountName(
  db: Db,
  id: string,
  { name: given, allowDuplicate = false }: Pick<NewAccount, 'name' | 'allowDuplicate'>,
): Promise<Account> {
  const name = parseDisplayName(given, 'An account');
  return await db.write(async (tx) => {
    if (!allowDuplicate) await requireNewName(tx, name, id);
    const account = await lockAccount(tx, id);
    if (account.name === name) return account;
    await tx.updateTable('account').set({ name }).where('id', '=', id).execute();
    await insertAudit(tx, operator(), {
      accountId: id,
      action: 'account_renamed',
      subject: name,
      detail: account.name,
    });
    return { ...account, name };
  });
}

/** Case is compared here: the engines' `lower` know different letters. */
async function requireNewName(tx: Tx, name: string, of?: string): Promise<void> {
  await dialectOf(tx).lockName(tx, 'account name');
  const accounts = await listAccounts(tx);
  const other = accounts.find(
    (account) => account.id !== of && account.name.toLowerCase() === name.toLowerCase(),
  );
  if (other !== undefined)
    throw new Failure('conflict', `The account ${other.id} has the name “${other.name}” already.`);
}

export function listAccounts(db: Queries) {
  return db
    .selectFrom('account')
    .select([...COLUMNS, 'deletion_asked_at', 'deletion_asked_by', 'deletion_command'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Throws `not_found`. */
export async function findAccount(db: Queries, id: string): Promise<Account> {
  return await selectAccount(db, id).executeTakeFirstOrThrow(() => noAccount(id));
}

/** Locks the account until the transaction ends, so a rule that counts (at most ten keys) sees all changes before. */
export async function lockAccount(tx: Tx, id: string): Promise<Account> {
  const account = selectAccount(tx, id).$call(dialectOf(tx).locked);
  return await account.executeTakeFirstOrThrow(() => noAccount(id));
}

function selectAccount(db: Queries, id: string) {
  return db.selectFrom('account').select(COLUMNS).where('id', '=', id);
}

export function noAccount(id: string): Failure {
  return new Failure('not_found', `No account has the id ${id}.`);
}
