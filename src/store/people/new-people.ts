import { randomUUID } from 'node:crypto';
import {
  MAX_OPEN_INVITATIONS,
  MAX_PEOPLE_PER_ACCOUNT,
  parseEmail,
  type Role,
  toEmailKey,
} from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { lockAccount } from '../accounts/accounts.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import { addLink } from './passwords.ts';
import { listPeople, PERSON_COLUMNS, type Person, requireOwner, toPerson } from './people.ts';
import { insertPersonMail } from './person-mail.ts';

interface NewPerson {
  readonly accountId: string;
  readonly email: string;
  /** null for a person who was invited and has no password yet. */
  readonly passwordHash: string | null;
  readonly now: Instant;
  /** When none is given, the first person of an account is an owner, and all others are members. */
  readonly role?: Role | undefined;
}

/** Adds a person to an account. An e-mail address belongs to one person, whatever its spelling. */
export async function insertPerson(db: Db, person: NewPerson) {
  return await db.write((tx) => addPerson(tx, person, operator(person.now)));
}

/** Adds a person who chooses a password by a one-time link, whose token is returned. */
export async function invitePerson(
  db: Db,
  person: Omit<NewPerson, 'passwordHash'>,
  by: Actor = operator(person.now),
): Promise<Person & { readonly token: string }> {
  return await db.write(async (tx) => {
    const added = await addPerson(tx, { ...person, passwordHash: null }, by);
    return { ...added, token: await addLink(tx, added.id, { now: person.now }) };
  });
}

async function addPerson(tx: Tx, person: NewPerson, by: Actor): Promise<Person> {
  const { accountId, passwordHash, now: created_at } = person;
  const email = parseEmail(person.email);
  await lockAccount(tx, accountId);
  await requireOwner(tx, by);
  const people = await listPeople(tx, accountId);
  if (people.length >= MAX_PEOPLE_PER_ACCOUNT) {
    const message = `An account has at most ${MAX_PEOPLE_PER_ACCOUNT} people, disabled ones included.`;
    throw new Failure('limit_reached', message);
  }
  // Operators invite as many people as an account can have.
  if (
    by.personId !== undefined &&
    people.filter(({ isInvited }) => isInvited).length >= MAX_OPEN_INVITATIONS
  ) {
    const message = `${MAX_OPEN_INVITATIONS} invitations are open. Withdraw one, or wait until somebody accepts.`;
    throw new Failure('limit_reached', message);
  }
  const role: Role = person.role ?? (people.length === 0 ? 'owner' : 'member');
  const added = await tx
    .insertInto('person')
    .values({
      id: randomUUID(),
      account_id: accountId,
      email,
      email_key: toEmailKey(email),
      password_hash: passwordHash,
      disabled: 0,
      created_at,
      role,
    })
    .onConflict((oc) => oc.column('email_key').doNothing())
    .returning(PERSON_COLUMNS)
    .executeTakeFirstOrThrow(
      () => new Failure('conflict', `Another person has the e-mail address ${email}.`),
    );
  await insertPersonMail(tx, toPerson(added));
  const action = passwordHash === null ? 'person_invited' : 'person_added';
  await insertAudit(tx, by, { accountId, action, subject: email, detail: role });
  return toPerson(added);
}
