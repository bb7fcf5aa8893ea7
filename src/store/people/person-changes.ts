import type { Role } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { type Actor, insertAudit, operator } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { auditPerson, endSessions, letNobodyIn, lockPerson, type Person } from './people.ts';
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
    if (!isForced) requireNeverSignedIn(person);
    if (isOwner(person) && !(await isAlone(tx, person))) await requireOtherOwner(tx, person);
    await letNobodyIn(tx, id);
    await removeSecondFactor(tx, id);
    await tx.deleteFrom('person').where('id', '=', id).execute();
    await auditPerson(tx, by, person, 'person_deleted');
    return person;
  });
}

function requireNeverSignedIn({ email, hasPassword, hasSingleSignOn }: Person): void {
  if (!hasPassword && !hasSingleSignOn) return;
  const message = `${email} has a password or uses single sign-on, so the person can be disabled but not deleted.`;
  throw new Failure('conflict', message);
}

function isOwner({ role, isDisabled }: Person): boolean {
  return role === 'owner' && !isDisabled;
}

/** Whether the account has nobody else: the next person is then its owner. */
async function isAlone(tx: Tx, { id, accountId }: Person): Promise<boolean> {
  const others = tx.selectFrom('person').select('id').where('account_id', '=', accountId);
  return (await others.where('id', '<>', id).limit(1).executeTakeFirst()) === undefined;
}

/** Throws `conflict` when the account has no other owner who is not disabled. */
async function requireOtherOwner(tx: Tx, { id, accountId, email }: Person): Promise<void> {
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
