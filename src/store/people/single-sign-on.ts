import { toEmailKey } from '../../domain/access/person.ts';
import type { Instant } from '../../domain/instant.ts';
import { insertAudit } from '../accounts/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { wordsOf } from '../engine/words.ts';
import { hasSecondFactor } from './sessions.ts';

/** Who somebody is at the OpenID provider: issuer and subject, and the e-mail address that it has verified. */
interface Identity {
  readonly subject: string;
  readonly email: string;
}

/** A person whom the provider has authenticated. */
export interface SignedOn {
  readonly personId: string;
  /** Whether the person belongs to this subject already; else the code of their second factor binds them. */
  readonly isBound: boolean;
  /** Whether a second factor is on, whose code is asked for now. */
  readonly needsCode: boolean;
}

interface From {
  readonly now: Instant;
  readonly address: string;
}

/**
 * The person whom an OpenID provider has authenticated: the one bound to this issuer and subject, else the
 * one with this (verified) e-mail address who is not bound yet. That one is bound now, unless they have a second
 * factor: whoever has the address at the provider has not proved to be that person. undefined when there is neither.
 */
export async function findSignedOn(
  db: Db,
  identity: Identity,
  from: From,
): Promise<SignedOn | undefined> {
  return await db.write(async (tx) => {
    const { subject, email } = identity;
    await wordsOf(tx).takeTurns(tx, subject);
    const known = await tx
      .selectFrom('person')
      .select(['id', 'disabled'])
      .where('single_sign_on', '=', subject)
      .executeTakeFirst();
    if (known !== undefined) return known.disabled === 0 ? await toSignedOn(tx, known) : undefined;
    const personId = await lockUnbound(tx, email);
    if (personId === undefined) return undefined;
    const needsCode = await hasSecondFactor(tx, personId);
    if (!needsCode) await bindIdentity(tx, { personId, subject }, from);
    return { personId, isBound: !needsCode, needsCode };
  });
}

async function toSignedOn(tx: Tx, { id }: { readonly id: string }): Promise<SignedOn> {
  return { personId: id, isBound: true, needsCode: await hasSecondFactor(tx, id) };
}

async function lockUnbound(tx: Tx, email: string): Promise<string | undefined> {
  const person = await tx
    .selectFrom('person')
    .select('id')
    .where('email_key', '=', toEmailKey(email))
    .where('single_sign_on', 'is', null)
    .where('disabled', '=', 0)
    .$call(wordsOf(tx).locked)
    .executeTakeFirst();
  return person?.id;
}

/**
 * Binds a person who is not bound yet; else returns false. Their link ends: whoever has it could otherwise sign in as
 * this person by choosing a password.
 */
export async function bindIdentity(
  tx: Tx,
  { personId, subject }: { readonly personId: string; readonly subject: string },
  { now: at, address }: From,
): Promise<boolean> {
  const bound = await tx
    .updateTable('person')
    .set({ single_sign_on: subject })
    .where('id', '=', personId)
    .where('single_sign_on', 'is', null)
    .where('disabled', '=', 0)
    .returning(['account_id', 'email'])
    .executeTakeFirst();
  if (bound === undefined) return false;
  await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
  const entry = { actor: bound.email, address, at, action: 'single_sign_on_bound' } as const;
  await insertAudit(tx, { ...entry, accountId: bound.account_id, subject: bound.email });
  return true;
}
