import type { Selectable } from 'kysely';
import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { toEmailKey } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import { findAccount, lockAccount } from '../accounts/accounts.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import type { Tables } from '../tables.ts';
import { hasSecondFactor, SESSION_IDLE_MS } from './sessions.ts';

/** A person who signs in to the settings pages of one account. */
export type Person = Readonly<ReturnType<typeof toPerson>>;

export const PERSON_COLUMNS = [
  'id',
  'account_id',
  'email',
  'role',
  'created_at',
  'password_hash',
  'single_sign_on',
  'disabled',
] as const;

export async function listPeople(db: Queries, accountId: string): Promise<Person[]> {
  await findAccount(db, accountId);
  const people = db.selectFrom('person').select(PERSON_COLUMNS);
  const own = people.where('account_id', '=', accountId).orderBy('email');
  return (await own.execute()).map(toPerson);
}

export async function findCredentials(db: Db, email: string) {
  return await db
    .selectFrom('person')
    .select(['id as personId', 'password_hash as passwordHash'])
    .where('email_key', '=', toEmailKey(email))
    .where('disabled', '=', 0)
    .executeTakeFirst();
}

/** Throws `not_found`. */
export async function findPerson(db: Queries, id: string): Promise<Person> {
  return toPerson(await selectPerson(db, id).executeTakeFirstOrThrow(() => noPerson(id)));
}

function selectPerson(db: Queries, id: string) {
  return db.selectFrom('person').select(PERSON_COLUMNS).where('id', '=', id);
}

function noPerson(id: string): Failure {
  return new Failure('not_found', `No person has the id ${id}.`);
}

export function toPerson(row: Pick<Selectable<Tables['person']>, (typeof PERSON_COLUMNS)[number]>) {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    isDisabled: row.disabled === 1,
    hasPassword: row.password_hash !== null,
    /** Only a one-time link lets the person in. */
    isInvited: row.password_hash === null && row.single_sign_on === null,
    createdAt: row.created_at,
  };
}

/** A person and their account, both locked for a change by the actor. People of other accounts are not found. */
export async function lockPerson(tx: Tx, id: string, by: Actor): Promise<Person> {
  const { accountId } = await findPerson(tx, id);
  if (by.accountId !== undefined && by.accountId !== accountId) throw noPerson(id);
  await lockAccount(tx, accountId);
  await requireOwner(tx, by);
  return await lockPersonRow(tx, id);
}

/** Locks the person until the transaction ends. Opening and ending sessions do so: none begins while all end. */
export async function lockPersonRow(tx: Tx, id: string): Promise<Person> {
  const person = selectPerson(tx, id).$call(dialectOf(tx).locked);
  return toPerson(await person.executeTakeFirstOrThrow(() => noPerson(id)));
}

/**
 * Throws `forbidden` when the actor is a person who is not an owner of their account, or not any more. The caller has
 * locked the account, so a change by another owner that came first is seen. Operators may do everything.
 */
export async function requireOwner(tx: Tx, { personId, accountId }: Actor): Promise<void> {
  if (personId === undefined) return;
  await tx
    .selectFrom('person')
    .select('id')
    .where(({ and }) => and({ id: personId, role: 'owner', disabled: 0 }))
    .where('account_id', '=', accountId ?? null)
    .executeTakeFirstOrThrow(notOwner);
}

export function notOwner(): Failure {
  return new Failure('forbidden', 'Only an owner of the account can do this.');
}

/** Ends what lets a person in without a password: sessions, sign-ins that wait for a code, and links. */
export async function letNobodyIn(tx: Tx, personId: string): Promise<void> {
  await endSessions(tx, personId);
  await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
}

export async function endSessions(tx: Tx, personId: string): Promise<void> {
  await tx.deleteFrom('session').where('person_id', '=', personId).execute();
  await tx.deleteFrom('pending_sign_in').where('person_id', '=', personId).execute();
}

export async function auditPerson(
  tx: Tx,
  by: Pick<Actor, 'name' | 'address' | 'at'>,
  { accountId, email }: Pick<Person, 'accountId' | 'email'>,
  action: AuditAction,
): Promise<void> {
  await insertAudit(tx, by, { accountId, action, subject: email });
}

export type ListedPerson = Awaited<ReturnType<typeof listPeopleOverview>>[number];

/** An account's people by e-mail address, with how they sign in. At most MAX_PEOPLE_PER_ACCOUNT. */
export async function listPeopleOverview(db: Db, accountId: string, now: Instant) {
  const rows = await db
    .selectFrom('person')
    .leftJoin('second_factor', 'second_factor.person_id', 'person.id')
    .innerJoin('person_mail', 'person_mail.person_id', 'person.id')
    .select([...PERSON_COLUMNS, 'last_signed_in_at', 'confirmed_at', 'refusal'])
    .select((eb) =>
      eb
        .selectFrom('session')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('session.person_id', '=', 'person.id')
        .where('session.expires_at', '>', now)
        .where('session.last_seen_at', '>', later(now, -SESSION_IDLE_MS))
        .$asScalar()
        .$notNull()
        .as('sessions'),
    )
    .where('account_id', '=', accountId)
    .orderBy('email')
    .execute();
  return rows.map((row) => ({
    ...toPerson(row),
    lastSignedInAt: row.last_signed_in_at,
    sessions: row.sessions,
    refusal: row.refusal,
    hasSecondFactor: row.confirmed_at !== null,
  }));
}

/** An owner needs a second factor to demand it: an installation where none can be set up would shut everybody out. */
export async function updateSecondFactorRequired(
  db: Db,
  accountId: string,
  isRequired: boolean,
  by: Actor = operator(),
): Promise<void> {
  await db.write(async (tx) => {
    const { name: subject } = await lockAccount(tx, accountId);
    await requireOwner(tx, by);
    if (isRequired && by.personId !== undefined && !(await hasSecondFactor(tx, by.personId)))
      throw new Failure('forbidden', 'Turn on your own second factor before you require it.');
    const second_factor_required = isRequired ? 1 : 0;
    const { numUpdatedRows } = await tx
      .updateTable('account')
      .set({ second_factor_required })
      .where('id', '=', accountId)
      .where('second_factor_required', '<>', second_factor_required)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    const action = isRequired ? 'second_factor_required' : 'second_factor_optional';
    await insertAudit(tx, by, { accountId, action, subject });
  });
}
