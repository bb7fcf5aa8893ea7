import { randomUUID } from 'node:crypto';
import { LINK_MS, later } from '../../domain/access/lifetime.ts';
import { parseEmail, toEmailKey } from '../../domain/access/person.ts';
import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Db, Queries, Tx } from '../connection/database.ts';
import { wordsOf } from '../connection/words.ts';

/** A person who signs in to the settings pages of one account. */
export interface Person {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly isDisabled: boolean;
  readonly hasPassword: boolean;
  readonly createdAt: Instant;
}

const COLUMNS = ['id', 'account_id', 'email', 'password_hash', 'disabled', 'created_at'] as const;

interface NewPerson {
  readonly accountId: string;
  readonly email: string;
  /** null for a person who was invited and has no password yet. */
  readonly passwordHash: string | null;
  readonly now: Instant;
}

/** Adds a person to an account. An e-mail address belongs to one person, whatever its spelling. */
export async function insertPerson(db: Db, person: NewPerson): Promise<Person> {
  const email = parseEmail(person.email);
  await findAccount(db, person.accountId);
  const row = {
    id: randomUUID(),
    account_id: person.accountId,
    email,
    password_hash: person.passwordHash,
    disabled: 0 as const,
    created_at: person.now,
  };
  const { numInsertedOrUpdatedRows } = await db.write((tx) =>
    tx
      .insertInto('person')
      .values({ ...row, email_key: toEmailKey(email), single_sign_on: null })
      .onConflict((oc) => oc.column('email_key').doNothing())
      .executeTakeFirst(),
  );
  if (numInsertedOrUpdatedRows === 0n) {
    throw new Failure('conflict', `Another person has the e-mail address ${email}.`);
  }
  return toPerson(row);
}

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
  { subject, email }: { readonly subject: string; readonly email: string },
): Promise<{ readonly personId: string } | undefined> {
  return await db.write(async (tx) => {
    await wordsOf(tx).takeTurns(tx, subject);
    const known = await tx
      .selectFrom('person')
      .select(['id as personId', 'disabled'])
      .where('single_sign_on', '=', subject)
      .executeTakeFirst();
    if (known !== undefined) return known.disabled === 0 ? known : undefined;
    return await tx
      .updateTable('person')
      .set({ single_sign_on: subject })
      .where('email_key', '=', toEmailKey(email))
      .where('single_sign_on', 'is', null)
      .where('disabled', '=', 0)
      .returning('id as personId')
      .executeTakeFirst();
  });
}

/** Disabling a person ends all their sessions in the same transaction; they cannot sign in any more. */
export async function updateDisabled(db: Db, id: string, isDisabled: boolean): Promise<Person> {
  return await db.write(async (tx) => {
    const disabled = isDisabled ? 1 : 0;
    await tx.updateTable('person').set({ disabled }).where('id', '=', id).execute();
    const person = await findPerson(tx, id);
    if (isDisabled) await letNobodyIn(tx, id);
    return person;
  });
}

/**
 * Creates a one-time link with which a person chooses a password, and returns its token. An earlier link of
 * the person becomes invalid.
 */
export async function insertOneTimeLink(db: Db, personId: string, now: Instant): Promise<string> {
  const { token, sha256 } = createSecret();
  const link = { sha256, expires_at: later(now, LINK_MS) };
  await db.write(async (tx) => {
    await findPerson(tx, personId);
    await tx
      .insertInto('one_time_link')
      .values({ ...link, person_id: personId })
      .onConflict((oc) => oc.column('person_id').doUpdateSet(link))
      .execute();
  });
  return token;
}

/** The person that a link was made for, if the link is still valid. */
export async function findLinkHolder(
  db: Db,
  token: string,
  now: Instant,
): Promise<{ readonly personId: string; readonly email: string } | undefined> {
  return await db
    .selectFrom('one_time_link')
    .innerJoin('person', 'person.id', 'one_time_link.person_id')
    .select(['person.id as personId', 'person.email'])
    .where('sha256', '=', hashSecret(token))
    .where('expires_at', '>', now)
    .where('disabled', '=', 0)
    .executeTakeFirst();
}

/**
 * Sets a person's password, and ends every session and link from before. `replaced` is the hash of the
 * password that the person entered; `link` is the link that they followed. Each must still be valid.
 */
export async function updatePassword(
  db: Db,
  personId: string,
  { passwordHash, ...proof }: { passwordHash: string } & ({ link: string } | { replaced: string }),
): Promise<void> {
  await db.write(async (tx) => {
    if ('link' in proof) await spendLink(tx, personId, proof.link);
    else await refuseIfReplaced(tx, personId, proof.replaced);
    await tx
      .updateTable('person')
      .set({ password_hash: passwordHash })
      .where('id', '=', personId)
      .execute();
    await letNobodyIn(tx, personId);
  });
}

/** Of two changes that began with the same password, the second fails. */
async function refuseIfReplaced(tx: Tx, personId: string, passwordHash: string): Promise<void> {
  const person = await tx
    .selectFrom('person')
    .select('id')
    .where('id', '=', personId)
    .where('password_hash', '=', passwordHash)
    .where('disabled', '=', 0)
    .$call(wordsOf(tx).locked)
    .executeTakeFirst();
  if (person === undefined) {
    throw new Failure('unauthorized', 'Your sign-in has changed meanwhile. Please sign in again.');
  }
}

/** Of two requests with the same link, the second fails. */
async function spendLink(tx: Tx, personId: string, token: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('one_time_link')
    .where('sha256', '=', hashSecret(token))
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new Failure('not_found', 'This link was used already.');
}

async function letNobodyIn(tx: Tx, personId: string): Promise<void> {
  await tx.deleteFrom('session').where('person_id', '=', personId).execute();
  await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
}

async function findPerson(db: Queries, id: string): Promise<Person> {
  const row = await db.selectFrom('person').select(COLUMNS).where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new Failure('not_found', `No person has the id ${id}.`);
  return toPerson(row);
}

interface PersonRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly disabled: 0 | 1;
  readonly created_at: Instant;
}

function toPerson(row: PersonRow): Person {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    isDisabled: row.disabled === 1,
    hasPassword: row.password_hash !== null,
    createdAt: row.created_at,
  };
}
