import type { Instant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { spendLink } from './one-time-links.ts';
import { auditPerson, letNobodyIn, lockPersonRow } from './people.ts';
import { requireProof, signInHasChanged } from './sessions.ts';

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
