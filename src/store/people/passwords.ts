import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { insertAudit } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { wordsOf } from '../engine/words.ts';
import { spendLink } from './one-time-links.ts';
import { findPerson, lockPersonRow } from './people.ts';
import { letNobodyIn } from './person-changes.ts';

interface NewPassword {
  readonly passwordHash: string;
  readonly now: Instant;
  /** Where the person is. */
  readonly address: string;
}

/** The hash of the password that the person entered, and their session. */
interface Replacement {
  readonly replaced: string;
  readonly sessionId: string;
}

/**
 * Sets a person's password, and ends every session and link from before. `replaced` is the hash of the
 * password that the person entered in the session `sessionId`; `link` is the link that they followed. Each must still
 * be valid.
 */
export async function updatePassword(
  db: Db,
  personId: string,
  {
    passwordHash,
    now: at,
    address,
    ...proof
  }: NewPassword & ({ readonly link: string } | Replacement),
): Promise<void> {
  await db.write(async (tx) => {
    // What ends links locks the person first.
    await lockPersonRow(tx, personId);
    if ('link' in proof) await spendLink(tx, personId, proof.link);
    else await requireUnchanged(tx, personId, proof);
    await tx
      .updateTable('person')
      .set({ password_hash: passwordHash })
      .where('id', '=', personId)
      .execute();
    await letNobodyIn(tx, personId);
    const { accountId, email } = await findPerson(tx, personId);
    const entry = { actor: email, address, at, action: 'password_changed' } as const;
    await insertAudit(tx, { ...entry, accountId, subject: email });
  });
}

/** Somebody may have ended the session while the new password was hashed. */
async function requireUnchanged(
  tx: Tx,
  personId: string,
  { replaced, sessionId }: Replacement,
): Promise<void> {
  await requirePassword(tx, personId, replaced);
  const session = await tx
    .selectFrom('session')
    .select('id')
    .where('id', '=', sessionId)
    .where('person_id', '=', personId)
    .$call(wordsOf(tx).locked)
    .executeTakeFirst();
  if (session === undefined) throw hasChanged();
}

function hasChanged(): Failure {
  return new Failure('unauthorized', 'Your sign-in has changed meanwhile. Please sign in again.');
}

/**
 * Locks a person whose password has this hash and who is not disabled; else throws `unauthorized`. Of two
 * changes that began with the same password, the second fails.
 */
export async function requirePassword(
  tx: Tx,
  personId: string,
  passwordHash: string,
): Promise<void> {
  const person = await tx
    .selectFrom('person')
    .select('id')
    .where('id', '=', personId)
    .where('password_hash', '=', passwordHash)
    .where('disabled', '=', 0)
    .$call(wordsOf(tx).locked)
    .executeTakeFirst();
  if (person === undefined) throw hasChanged();
}
