import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, insertAudit, operator } from '../accounts/audit.ts';
import type { Db } from '../engine/database.ts';
import { PERSON_COLUMNS, requireOwner, toPerson } from './people.ts';
import { hasSecondFactor, SESSION_IDLE_MS } from './sessions.ts';

export type ListedPerson = Awaited<ReturnType<typeof listPeopleOverview>>[number];

/** An account's people by e-mail address, with how they sign in. At most MAX_PEOPLE_PER_ACCOUNT. */
export async function listPeopleOverview(db: Db, accountId: string, now: Instant) {
  const rows = await db
    .selectFrom('person')
    .leftJoin('second_factor', 'second_factor.person_id', 'person.id')
    .select([...PERSON_COLUMNS, 'last_signed_in_at', 'confirmed_at'])
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
    ...toPerson(row),
    lastSignedInAt: row.last_signed_in_at,
    sessions: Number(row.sessions),
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
