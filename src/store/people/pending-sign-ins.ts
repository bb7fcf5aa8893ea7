import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import { type Instant, later } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { lockPersonRow } from './people.ts';
import { type CodeProof, spendCode } from './second-factors.ts';
import {
  addSession,
  type NewSession,
  type Proof,
  requireProof,
  signInHasChanged,
} from './sessions.ts';
import { bindAfterCode } from './single-sign-on.ts';
import { spendToken, type TokenHolder } from './tokens.ts';

/*
 * A person with a second factor who has entered the password, or has signed in at the OpenID provider. What ends
 * sessions ends these too: a new password, disabling the person, resetting the second factor.
 */

export const PENDING_SIGN_IN_MS = 10 * 60_000;

interface NewPendingSignIn {
  readonly personId: string;
  readonly proof: Proof;
  /** The identity at the OpenID provider that the right code binds the person to. */
  readonly subject?: string | undefined;
  readonly now: Instant;
}

/** Returns the token for the browser's cookie. How many there are is limited by the throttles of sign-ins. */
export async function insertPendingSignIn(
  db: Db,
  { personId, proof, subject, now }: NewPendingSignIn,
): Promise<string> {
  const token = toToken(subject);
  const sha256 = hashSecret(token);
  const expires_at = later(now, PENDING_SIGN_IN_MS);
  await db.write(async (tx) => {
    await requireProof(tx, personId, proof);
    await tx.deleteFrom('pending_sign_in').where('expires_at', '<=', now).execute();
    const pending = { sha256, person_id: personId, expires_at };
    await tx.insertInto('pending_sign_in').values(pending).execute();
  });
  return token;
}

/** A secret, and the subject behind a dot. The hash of the whole is stored, so nobody can exchange the subject. */
function toToken(subject: string | undefined): string {
  const { token } = createSecret();
  return subject === undefined ? token : `${token}.${Buffer.from(subject).toString('base64url')}`;
}

function toSubject(token: string): string | undefined {
  const [, subject] = token.split('.');
  return subject && Buffer.from(subject, 'base64url').toString();
}

/** Uses up the code and the pending sign-in, binds the subject, and opens the session. Throws `unauthorized`. */
export async function finishSignIn(
  db: Db,
  { email, accountId, ...session }: TokenHolder & Omit<NewSession, 'proof' | 'isFactorDone'>,
  { token, code }: { readonly token: string; readonly code: CodeProof },
): Promise<string> {
  const { personId, address, now: at } = session;
  const subject = toSubject(token);
  const opened = await db.write(async (tx) => {
    if (subject !== undefined) await dialectOf(tx).lockName(tx, subject);
    const { isDisabled } = await lockPersonRow(tx, personId);
    const isSpent = await spendToken(tx, 'pending_sign_in', { personId, token, now: at });
    if (isDisabled || !isSpent) throw signInHasChanged();
    await spendCode(tx, { name: email, accountId, personId, address, at }, code);
    const isBound =
      subject === undefined || (await bindAfterCode(tx, { personId, subject, now: at, address }));
    return isBound ? await addSession(tx, { ...session, isSingleSignOn: false }) : undefined;
  });
  // Thrown after the transaction, which has deleted the pending sign-in: no code can finish it any more.
  if (opened === undefined) throw signInHasChanged();
  return opened;
}
