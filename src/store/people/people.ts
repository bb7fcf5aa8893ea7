import { type Role, toEmailKey } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { findAccount } from '../accounts/accounts.ts';
import { insertAudit } from '../accounts/audit.ts';
import type { Db, Queries, Tx } from '../connection/database.ts';
import { wordsOf } from '../connection/words.ts';

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

/**
 * The person whom an OpenID provider has authenticated: the one bound to this issuer and subject, else the
 * one with this (verified) e-mail address who is not bound yet and is bound now. undefined when there is
 * neither.
 */
export async function findSignedOn(
  db: Db,
  identity: Identity,
  from: { readonly now: Instant; readonly address: string },
): Promise<{ readonly personId: string } | undefined> {
  return await db.write(async (tx) => {
    const { subject } = identity;
    await wordsOf(tx).takeTurns(tx, subject);
    const known = await tx
      .selectFrom('person')
      .select(['id as personId', 'disabled'])
      .where('single_sign_on', '=', subject)
      .executeTakeFirst();
    if (known !== undefined) return known.disabled === 0 ? known : undefined;
    return await bindIdentity(tx, identity, from);
  });
}

/** Who somebody is at the OpenID provider: issuer and subject, and the e-mail address that it has verified. */
interface Identity {
  readonly subject: string;
  readonly email: string;
}

/** The person's link ends: whoever has it could otherwise sign in as this person by choosing a password. */
async function bindIdentity(
  tx: Tx,
  { subject, email }: Identity,
  { now: at, address }: { readonly now: Instant; readonly address: string },
): Promise<{ readonly personId: string } | undefined> {
  const bound = await tx
    .updateTable('person')
    .set({ single_sign_on: subject })
    .where('email_key', '=', toEmailKey(email))
    .where('single_sign_on', 'is', null)
    .where('disabled', '=', 0)
    .returning(['id', 'account_id', 'email'])
    .executeTakeFirst();
  if (bound === undefined) return undefined;
  await tx.deleteFrom('one_time_link').where('person_id', '=', bound.id).execute();
  const entry = { actor: bound.email, address, at, action: 'single_sign_on_bound' } as const;
  await insertAudit(tx, { ...entry, accountId: bound.account_id, subject: bound.email });
  return { personId: bound.id };
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
