import type { Role } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import {
  auditPerson,
  endSessions,
  letNobodyIn,
  listPeople,
  lockPerson,
  type Person,
} from './people.ts';
import { deletePersonMail, refreshReceiver } from './person-mail.ts';
import { removeSecondFactor } from './second-factors.ts';

/*
 * Changes of people by an owner of their account or by the operator. Each locks the account, so that two owners who
 * disable one another at once leave one of them.
 */

/** Disabling ends all sessions. Nobody disables themselves or, with `keepsOwner`, the account's only owner. */
export async function updateDisabled(
  db: Db,
  id: string,
  isDisabled: boolean,
  by: Actor = operator(),
  { keepsOwner = false }: { readonly keepsOwner?: boolean } = {},
): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    if (person.isDisabled === isDisabled) return person;
    if (isDisabled) await shutOut(tx, person, { by, keepsOwner });
    const disabled = isDisabled ? 1 : 0;
    await tx.updateTable('person').set({ disabled }).where('id', '=', id).execute();
    await refreshReceiver(tx, id);
    await auditPerson(tx, by, person, isDisabled ? 'person_disabled' : 'person_enabled');
    return { ...person, isDisabled };
  });
}

async function shutOut(
  tx: Tx,
  person: Person,
  { by, keepsOwner }: { readonly by: Actor; readonly keepsOwner: boolean },
): Promise<void> {
  if (person.id === by.personId)
    throw new Failure('forbidden', 'You cannot disable yourself. Another owner can.');
  if (keepsOwner && isOwner(person)) await requireOtherOwner(tx, person);
  await letNobodyIn(tx, person.id);
}

/** Throws `conflict` when the person is the account's only owner and would be a member. */
export async function updateRole(db: Db, id: string, role: Role) {
  const by = operator();
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    if (person.role === role) return person;
    if (role === 'member') await requireOtherOwner(tx, person);
    await tx.updateTable('person').set({ role }).where('id', '=', id).execute();
    await refreshReceiver(tx, id);
    const { accountId, email: subject } = person;
    const action = 'person_role_changed';
    await insertAudit(tx, by, { accountId, action, subject, detail: role });
    return { ...person, role };
  });
}

export async function endSessionsOf(db: Db, id: string, by: Actor): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    await endSessions(tx, id);
    await auditPerson(tx, by, person, 'person_sessions_ended');
    return person;
  });
}

/**
 * Deletes a person and so frees the address; audit entries and marks of sources keep it as text. Throws `conflict`
 * for a person with a password or single sign-on, unless forced, and for the only owner among several people.
 */
export async function deletePerson(
  db: Db,
  id: string,
  by: Actor = operator(),
  { isForced = false }: { readonly isForced?: boolean } = {},
): Promise<Person> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, id, by);
    if (!isForced && !person.isInvited) throw toNotDeletable(person);
    // When nobody else is there, the next person is the account's owner.
    if (isOwner(person)) await requireOtherOwner(tx, person, { mayBeAlone: true });
    await deletePersonRows(tx, id);
    await auditPerson(tx, by, person, 'person_deleted');
    return person;
  });
}

/** The caller has locked the person. */
export async function deletePersonRows(tx: Tx, id: string): Promise<void> {
  await letNobodyIn(tx, id);
  await removeSecondFactor(tx, id);
  await deletePersonMail(tx, id);
  await tx.deleteFrom('person').where('id', '=', id).execute();
}

function toNotDeletable({ email }: Person): Failure {
  const message = `${email} has a password or uses single sign-on, so the person can be disabled but not deleted.`;
  return new Failure('conflict', message);
}

function isOwner({ role, isDisabled }: Person): boolean {
  return role === 'owner' && !isDisabled;
}

/**
 * Throws `conflict` when nobody else in the account is an owner who is not disabled. In the place of one who can sign in, an
 * invited person does not count: they may never accept.
 */
async function requireOtherOwner(
  tx: Tx,
  { id, accountId, email, isInvited }: Person,
  { mayBeAlone = false }: { readonly mayBeAlone?: boolean } = {},
): Promise<void> {
  const others = (await listPeople(tx, accountId)).filter((person) => person.id !== id);
  const isEnough = (person: Person) => isOwner(person) && (isInvited || !person.isInvited);
  if (others.some(isEnough) || (mayBeAlone && others.length === 0)) return;
  const message = `${email} is the only owner of the account${isInvited ? '' : ' who can sign in'}. Make another person an owner first.`;
  throw new Failure('conflict', message);
}
