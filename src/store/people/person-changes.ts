import type { Role } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, insertAudit, operator, signedBy } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { requireOwner } from './owners.ts';
import { findPerson, lockPersonRow, type Person } from './people.ts';

/*
 * Changes of people by an owner of their account or by the operator. Each holds the account's lock, so that two
 * owners who disable one another at once leave one of them.
 */

interface Options {
  /** Whether the account's only owner stays enabled. */
  readonly keepsOwner?: boolean;
}

/**
 * Disabling a person ends all their sessions in the same transaction; they cannot sign in any more. Owners
 * cannot disable themselves, so an account that has an owner keeps one unless an operator wants otherwise.
 */
export async function updateDisabled(
  db: Db,
  id: string,
  isDisabled: boolean,
  by: Actor = operator(),
  { keepsOwner = false }: Options = {},
): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    if (isDisabled) await requireOthers(tx, person, { by, keepsOwner });
    const disabled = isDisabled ? 1 : 0;
    await tx.updateTable('person').set({ disabled }).where('id', '=', id).execute();
    if (isDisabled) await letNobodyIn(tx, id);
    if (person.isDisabled === isDisabled) return person;
    await auditPerson(tx, by, person, isDisabled ? 'person_disabled' : 'person_enabled');
    return { ...person, isDisabled };
  });
}

/** Throws `conflict` when the person is the account's only owner and would be a member. */
export async function updateRole(
  db: Db,
  id: string,
  role: Role,
  by: Actor = operator(),
): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    if (person.role === role) return person;
    if (role === 'member') await requireOtherOwner(tx, person);
    await tx.updateTable('person').set({ role }).where('id', '=', id).execute();
    await auditPerson(tx, by, person, 'person_role_changed', role);
    return { ...person, role };
  });
}

async function requireOthers(
  tx: Tx,
  person: Person,
  { by, keepsOwner }: { readonly by: Actor; readonly keepsOwner: boolean },
): Promise<void> {
  if (person.id === by.personId)
    throw new Failure('forbidden', 'You cannot disable yourself. Another owner can.');
  if (keepsOwner && isOwner(person)) await requireOtherOwner(tx, person);
}

export function isOwner({ role, isDisabled }: Person): boolean {
  return role === 'owner' && !isDisabled;
}

/** Throws `conflict` when the account has no other owner who is not disabled. */
export async function requireOtherOwner(tx: Tx, { id, accountId, email }: Person): Promise<void> {
  const other = await tx
    .selectFrom('person')
    .select('id')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .where('disabled', '=', 0)
    .where('id', '<>', id)
    .executeTakeFirst();
  if (other !== undefined) return;
  const message = `${email} is the only owner of the account. Make another person an owner first.`;
  throw new Failure('conflict', message);
}

/** Ends all sessions of a person, and sign-ins that wait for a code. */
export async function endSessionsOf(db: Db, id: string, by: Actor): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    await endSessions(tx, id);
    await auditPerson(tx, by, person, 'person_sessions_ended');
    return person;
  });
}

/** A person whose account is locked for the actor. People of another account are not found. */
export async function lockPerson(tx: Tx, id: string, by: Actor): Promise<Person> {
  const { accountId } = await findPerson(tx, id);
  if (by.accountId !== undefined && by.accountId !== accountId)
    throw new Failure('not_found', `No person has the id ${id}.`);
  await lockAccount(tx, accountId);
  await requireOwner(tx, by);
  return await lockPersonRow(tx, id);
}

type PersonAction =
  | 'person_disabled'
  | 'person_enabled'
  | 'person_role_changed'
  | 'person_sessions_ended'
  | 'person_deleted';

export async function auditPerson(
  tx: Tx,
  by: Actor,
  { accountId, email }: Person,
  ...[action, detail = '']: [action: PersonAction, detail?: string]
): Promise<void> {
  await insertAudit(tx, { ...signedBy(by), accountId, action, subject: email, detail });
}

/** Ends what lets a person in without a password: sessions, sign-ins under way, and links. */
export async function letNobodyIn(tx: Tx, personId: string): Promise<void> {
  await endSessions(tx, personId);
  await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
}

export async function endSessions(tx: Tx, personId: string): Promise<void> {
  await tx.deleteFrom('session').where('person_id', '=', personId).execute();
  await tx.deleteFrom('pending_sign_in').where('person_id', '=', personId).execute();
}
