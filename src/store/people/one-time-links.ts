import { LINK_MS, later } from '../../domain/access/lifetime.ts';
import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { type Actor, operator } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { auditPerson, lockPerson, type Person } from './people.ts';

/**
 * Creates a one-time link with which a person chooses a password, and returns its token. An earlier link of
 * the person becomes invalid. An owner can do so only for a person who has neither a password nor single sign-on: the
 * link would otherwise let an owner sign in as another person.
 */
export async function insertOneTimeLink(
  db: Db,
  personId: string,
  now: Instant,
  by: Actor = operator(now),
): Promise<string> {
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, personId, by);
    if (by.personId !== undefined) requireInvited(person);
    await auditPerson(tx, by, person, 'person_link_made');
    return await addLink(tx, personId, now);
  });
}

function requireInvited({ hasPassword, hasSingleSignOn }: Person): void {
  if (!hasPassword && !hasSingleSignOn) return;
  const has = hasPassword ? 'has a password' : 'signs in with single sign-on';
  const message = `This person ${has}. The operator of this Plumbline can make a link.`;
  throw new Failure('forbidden', message);
}

export async function addLink(tx: Tx, personId: string, now: Instant): Promise<string> {
  const { token, sha256 } = createSecret();
  const link = { sha256, expires_at: later(now, LINK_MS) };
  await tx
    .insertInto('one_time_link')
    .values({ ...link, person_id: personId })
    .onConflict((oc) => oc.column('person_id').doUpdateSet(link))
    .execute();
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

/** Of two requests with the same link, the second fails. */
export async function spendLink(tx: Tx, personId: string, token: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('one_time_link')
    .where('sha256', '=', hashSecret(token))
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new Failure('not_found', 'This link was used already.');
}
