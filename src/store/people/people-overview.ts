import type { Role } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, insertAudit, operator } from '../accounts/audit.ts';
import type { Db, Queries } from '../engine/database.ts';
import { requireOwner } from './people.ts';
import { hasSecondFactor, SESSION_IDLE_MS } from './sessions.ts';

export interface ListedPerson {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly isDisabled: boolean;
  /** Whether the person has neither a password nor single sign-on: only a one-time link lets them in. */
  readonly isInvited: boolean;
  readonly lastSignedInAt: Instant | null;
  readonly sessions: number;
  readonly hasSecondFactor: boolean;
  readonly createdAt: Instant;
}

/** An account's people by e-mail address, with how they sign in. At most MAX_PEOPLE_PER_ACCOUNT. */
export async function listPeopleOverview(
  db: Db,
  accountId: string,
  now: Instant,
): Promise<ListedPerson[]> {
  const rows = await db
    .selectFrom('person')
    .leftJoin('second_factor', 'second_factor.person_id', 'person.id')
    .select(['id', 'email', 'role', 'disabled', 'created_at', 'last_signed_in_at', 'confirmed_at'])
    .select(['password_hash', 'single_sign_on'])
    .select((eb) =>
      eb
        .selectFrom('session')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('session.person_id', '=', 'person.id')
        .where('session.expires_at', '>', now)
        .where('session.last_seen_at', '>', later(now, -SESSION_IDLE_MS))
        .as('sessions'),
    )
    .where('account_id', '=', accountId)
    .orderBy('email')
    .execute();
  return rows.map((row) => ({
    ...{ id: row.id, email: row.email, role: row.role, createdAt: row.created_at },
    isDisabled: row.disabled === 1,
    isInvited: row.password_hash === null && row.single_sign_on === null,
    lastSignedInAt: row.last_signed_in_at,
    sessions: Number(row.sessions),
    hasSecondFactor: row.confirmed_at !== null,
  }));
}

/** Whether people who sign in with a password need a second factor. */
export async function isSecondFactorRequired(db: Queries, accountId: string): Promise<boolean> {
  const account = await db
    .selectFrom('account')
    .select('second_factor_required')
    .where('id', '=', accountId)
    .executeTakeFirst();
  return account?.second_factor_required === 1;
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
    if ((await isSecondFactorRequired(tx, accountId)) === isRequired) return;
    await tx
      .updateTable('account')
      .set({ second_factor_required: isRequired ? 1 : 0 })
      .where('id', '=', accountId)
      .execute();
    const action = isRequired ? 'second_factor_required' : 'second_factor_optional';
    await insertAudit(tx, by, { accountId, action, subject });
  });
}
