import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import { type Actor, operator } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { auditPerson, letNobodyIn, lockPerson, lockPersonRow, type Person } from './people.ts';
import { requireProof, signInHasChanged } from './sessions.ts';

/* How a person gets a password: by a one-time link (an invitation, a reset), or in place of the one they have. */

const LINK_MS = 24 * 3_600_000;

/**
 * Creates a one-time link for choosing a password, and returns its token; an earlier link becomes invalid. An owner
 * can do so only for a person without password and single sign-on, and so cannot sign in as another person.
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
async function spendLink(tx: Tx, personId: string, token: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('one_time_link')
    .where('sha256', '=', hashSecret(token))
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new Failure('not_found', 'This link was used already.');
}

interface NewPassword {
  readonly passwordHash: string;
  readonly now: Instant;
  /** Where the person is. */
  readonly address: string;
}

/** What lets a person choose a new password. It must still be valid: hashing the new password takes a while. */
type PasswordProof =
  | { readonly link: string }
  /** The hash of the password that the person entered, and their session. */
  | { readonly replaced: string; readonly sessionId: string };

/** Sets a person's password, and ends every session and link from before. */
export async function updatePassword(
  db: Db,
  personId: string,
  { passwordHash: password_hash, now: at, address, ...proof }: NewPassword & PasswordProof,
): Promise<void> {
  await db.write(async (tx) => {
    // What ends links locks the person first.
    const person = await lockPersonRow(tx, personId);
    if ('link' in proof) await spendLink(tx, personId, proof.link);
    else {
      await requireProof(tx, personId, { password_hash: proof.replaced });
      await requireSession(tx, personId, proof.sessionId);
    }
    await tx.updateTable('person').set({ password_hash }).where('id', '=', personId).execute();
    await letNobodyIn(tx, personId);
    await auditPerson(tx, { name: person.email, address, at }, person, 'password_changed');
  });
}

async function requireSession(tx: Tx, personId: string, id: string): Promise<void> {
  const session = await tx
    .selectFrom('session')
    .select('id')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .$call(dialectOf(tx).locked)
    .executeTakeFirst();
  if (session === undefined) throw signInHasChanged();
}
