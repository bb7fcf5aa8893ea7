import { later, PENDING_SIGN_IN_MS } from '../../domain/access/lifetime.ts';
import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db } from '../connection/database.ts';
import { lockPersonRow } from './people.ts';
import { type CodeProof, spendCode } from './second-factors.ts';
import { addSession, type NewSession, noLongerProof, requireProof } from './sessions.ts';

/*
 * A person with a second factor who has entered the password. What ends sessions ends these too: a new password,
 * disabling the person, resetting the second factor.
 */

export interface PendingSignIn {
  readonly personId: string;
  readonly email: string;
  readonly accountId: string;
}

/** Returns the token for the browser's cookie. How many there are is limited by successful sign-ins. */
export async function insertPendingSignIn(
  db: Db,
  { personId, passwordHash, now }: { personId: string; passwordHash: string; now: Instant },
): Promise<string> {
  const { token, sha256 } = createSecret();
  const expires_at = later(now, PENDING_SIGN_IN_MS);
  await db.write(async (tx) => {
    await requireProof(tx, {
      ...{ personId, isFactorDone: true },
      proof: { password_hash: passwordHash },
    });
    await tx.deleteFrom('pending_sign_in').where('expires_at', '<=', now).execute();
    await tx
      .insertInto('pending_sign_in')
      .values({ sha256, person_id: personId, expires_at })
      .execute();
  });
  return token;
}

/** undefined when there is none, whatever the reason. */
export async function findPendingSignIn(
  db: Db,
  token: string,
  now: Instant,
): Promise<PendingSignIn | undefined> {
  return await db
    .selectFrom('pending_sign_in')
    .innerJoin('person', 'person.id', 'pending_sign_in.person_id')
    .select(['person.id as personId', 'person.email as email', 'person.account_id as accountId'])
    .where('sha256', '=', hashSecret(token))
    .where('expires_at', '>', now)
    .where('disabled', '=', 0)
    .executeTakeFirst();
}

/** Uses up the code and the pending sign-in, and opens the session. Throws `unauthorized`. */
export async function finishSignIn(
  db: Db,
  { email, accountId, ...session }: PendingSignIn & Omit<NewSession, 'proof' | 'isFactorDone'>,
  { token, code }: { readonly token: string; readonly code: CodeProof },
): Promise<string> {
  const { personId, address, now: at } = session;
  return await db.write(async (tx) => {
    const { isDisabled } = await lockPersonRow(tx, personId);
    const { numDeletedRows } = await tx
      .deleteFrom('pending_sign_in')
      .where('sha256', '=', hashSecret(token))
      .where('person_id', '=', personId)
      .where('expires_at', '>', at)
      .executeTakeFirst();
    if (isDisabled || numDeletedRows === 0n) throw noLongerProof();
    await spendCode(tx, { name: email, accountId, personId, address, at }, code);
    return await addSession(tx, { ...session, isSingleSignOn: false });
  });
}
