import { Failure } from '../../domain/failure.ts';
import { type Actor, operator } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Person } from './people.ts';
import {
  auditPerson,
  isOwner,
  letNobodyIn,
  lockPerson,
  requireOtherOwner,
} from './person-changes.ts';
import { removeSecondFactor } from './second-factors.ts';

interface Options {
  /** Whether a person who has a password or uses single sign-on is deleted too. */
  readonly isForced?: boolean;
}

/**
 * Deletes a person, so that their address is free again. Entries of the audit and marks of sources keep the address as
 * text. Throws `conflict` for a person who has a password or uses single sign-on, unless it is forced, and for the only
 * owner among several people.
 */
export async function deletePerson(
  db: Db,
  id: string,
  by: Actor = operator(),
  { isForced = false }: Options = {},
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

/** Whether the account has nobody else: the next person is then its owner. */
async function isAlone(tx: Tx, { id, accountId }: Person): Promise<boolean> {
  const others = tx.selectFrom('person').select('id').where('account_id', '=', accountId);
  return (await others.where('id', '<>', id).limit(1).executeTakeFirst()) === undefined;
}
