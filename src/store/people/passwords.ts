import { createSecret } from '../../domain/access/secret.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Actor, operator } from '../events/audit.ts';
import {
  auditPerson,
  findCredentials,
  letNobodyIn,
  lockPerson,
  lockPersonRow,
  type Person,
} from './people.ts';
import { requireProof, signInHasChanged } from './sessions.ts';
import { spendToken } from './tokens.ts';

/* How a person gets a password: by a one-time link (an invitation, a reset), or in place of the one they have. */

export const LINK_MS = 24 * 3_600_000;

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
    if (by.personId !== undefined && !person.isInvited) throw toNotInvited(person);
    await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
    await auditPerson(tx, by, person, 'person_link_made');
    return await addLink(tx, personId, { now });
  });
}

/** Anybody can ask for links to an address, so none ends another. With so many in the mailbox, no more are sent. */
const MAX_MAILED = 10;

async function hasMaxMailed(tx: Tx, personId: string, now: Instant): Promise<boolean> {
  const mailed = tx.selectFrom('one_time_link').select('sha256').where('mailed', '=', 1);
  const valid = mailed.where('person_id', '=', personId).where('expires_at', '>', now);
  return (await valid.execute()).length >= MAX_MAILED;
}

/**
 * A link for a mail that is about to be sent: what waits to be sent has none, so that it is stored nowhere. undefined for a
 * person who is disabled, or has enough of them.
 */
export async function insertMailedLink(db: Db, personId: string, now: Instant) {
  return await db.write(async (tx) => {
    const { isDisabled } = await lockPersonRow(tx, personId);
    if (isDisabled || (await hasMaxMailed(tx, personId, now))) return undefined;
    return await addLink(tx, personId, { now, isMailed: true });
  });
}

/** Has a link mailed to whoever has the address and a password, or an invitation. Links from before stay valid. */
export async function requestLink(
  db: Db,
  email: string,
  { now: at, address }: { readonly now: Instant; readonly address: string },
): Promise<void> {
  const { personId } = (await findCredentials(db, email)) ?? {};
  if (personId === undefined) return;
  await db.write(async (tx) => {
    const person = await lockPersonRow(tx, personId);
    // Whoever signs in at a provider has no password there that this address could replace.
    if (person.isDisabled || !(person.hasPassword || person.isInvited)) return;
    if (await hasMaxMailed(tx, personId, at)) return;
    await auditPerson(tx, { name: person.email, address, at }, person, 'person_link_made');
  });
}

function toNotInvited({ hasPassword }: Person): Failure {
  const has = hasPassword ? 'has a password' : 'signs in with single sign-on';
  const message = `This person ${has}. The operator of this Plumbline can make a link.`;
  return new Failure('forbidden', message);
}

export async function addLink(
  tx: Tx,
  personId: string,
  { now, isMailed = false }: { readonly now: Instant; readonly isMailed?: boolean },
): Promise<string> {
  const { token, sha256 } = createSecret();
  const ofPerson = tx.deleteFrom('one_time_link').where('person_id', '=', personId);
  await ofPerson.where('expires_at', '<=', now).execute();
  const link = { sha256, person_id: personId, expires_at: later(now, LINK_MS) };
  await tx
    .insertInto('one_time_link')
    .values({ ...link, mailed: isMailed ? 1 : 0 })
    .execute();
  return token;
}

interface NewPassword {
  readonly passwordHash: string;
  readonly now: Instant;
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
    if ('link' in proof) {
      const link = { personId, token: proof.link, now: at };
      const isSpent = await spendToken(tx, 'one_time_link', link);
      // The second of two requests with the same link fails.
      if (!isSpent) throw new Failure('not_found', 'This link was used already.');
    } else {
      await requireProof(tx, personId, { password_hash: proof.replaced });
      await requireSession(tx, personId, proof.sessionId);
    }
    await tx.updateTable('person').set({ password_hash }).where('id', '=', personId).execute();
    await letNobodyIn(tx, personId);
    await auditPerson(tx, { name: person.email, address, at }, person, 'password_changed');
  });
}

async function requireSession(tx: Tx, person_id: string, id: string): Promise<void> {
  await tx
    .selectFrom('session')
    .select('id')
    .where(({ and }) => and({ id, person_id }))
    .$call(dialectOf(tx).locked)
    .executeTakeFirstOrThrow(signInHasChanged);
}
