import { type Role, toEmailKey } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { wordsOf } from '../engine/words.ts';

/** A person who signs in to the settings pages of one account. */
export interface Person {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly isDisabled: boolean;
  readonly hasPassword: boolean;
  /** Whether the person has signed in at the OpenID provider. */
  readonly hasSingleSignOn: boolean;
  readonly createdAt: Instant;
}

const IDENTITY = ['id', 'account_id', 'email', 'role', 'created_at'] as const;
const COLUMNS = [...IDENTITY, 'password_hash', 'single_sign_on', 'disabled'] as const;

/** By e-mail address. */
export async function listPeople(db: Db, accountId: string): Promise<Person[]> {
  await findAccount(db, accountId);
  const rows = await db
    .selectFrom('person')
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .orderBy('email')
    .execute();
  return rows.map(toPerson);
}

/** The hash that a password is compared with; null when this e-mail address cannot sign in. */
export async function findCredentials(
  db: Db,
  email: string,
): Promise<{ readonly personId: string; readonly passwordHash: string | null } | undefined> {
  return await db
    .selectFrom('person')
    .select(['id as personId', 'password_hash as passwordHash'])
    .where('email_key', '=', toEmailKey(email))
    .where('disabled', '=', 0)
    .executeTakeFirst();
}

/** Throws `not_found`. */
export async function findPerson(db: Queries, id: string): Promise<Person> {
  const row = await db.selectFrom('person').select(COLUMNS).where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new Failure('not_found', `No person has the id ${id}.`);
  return toPerson(row);
}

/**
 * The person's row, locked until the transaction ends. Opening a session and ending all of them take this lock, so
 * that no session begins while they end.
 */
export async function lockPersonRow(tx: Tx, id: string): Promise<Person> {
  const row = tx.selectFrom('person').select('id').where('id', '=', id);
  await row.$call(wordsOf(tx).locked).execute();
  return await findPerson(tx, id);
}

export interface PersonRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly role: Role;
  readonly password_hash: string | null;
  readonly single_sign_on: string | null;
  readonly disabled: 0 | 1;
  readonly created_at: Instant;
}

export function toPerson(row: PersonRow): Person {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    isDisabled: row.disabled === 1,
    hasPassword: row.password_hash !== null,
    hasSingleSignOn: row.single_sign_on !== null,
    createdAt: row.created_at,
  };
}
