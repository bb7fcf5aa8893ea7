import { toEmailKey } from '../../domain/access/person.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { auditPerson } from './people.ts';
import { hasSecondFactor } from './sessions.ts';

export type SignedOn = NonNullable<Awaited<ReturnType<typeof findSignedOn>>>;

type Occasion = { readonly now: Instant; readonly address: string };

/**
 * The person bound to this issuer and subject, else the one with this verified address who is not bound. That one is bound
 * now, unless they have a second factor: whoever has the address at the provider has not proved to be that person.
 */
export async function findSignedOn(
  db: Db,
  { subject, email }: { readonly subject: string; readonly email: string },
  occasion: Occasion,
) {
  return await db.write(async (tx) => {
    await dialectOf(tx).lockName(tx, subject);
    const bound = await findHolder(tx, subject);
    if (bound?.disabled === 1) return undefined;
    const personId = bound?.id ?? (await lockUnbound(tx, email));
    if (personId === undefined) return undefined;
    const needsCode = await hasSecondFactor(tx, personId);
    const mayBind = bound === undefined && !needsCode;
    if (mayBind) await bindIdentity(tx, { personId, subject, ...occasion });
    // Unless the person is bound, the code of their second factor binds them.
    return { personId, isBound: bound !== undefined || mayBind, needsCode };
  });
}

async function findHolder(tx: Tx, subject: string) {
  const person = tx.selectFrom('person').select(['id', 'disabled']);
  return await person.where('single_sign_on', '=', subject).executeTakeFirst();
}

async function lockUnbound(tx: Tx, email: string): Promise<string | undefined> {
  const person = await tx
    .selectFrom('person')
    .select('id')
    .where('email_key', '=', toEmailKey(email))
    .where('single_sign_on', 'is', null)
    .where('disabled', '=', 0)
    .$call(dialectOf(tx).locked)
    .executeTakeFirst();
  return person?.id;
}

type Binding = Occasion & { readonly personId: string; readonly subject: string };

/**
 * Returns whether the person belongs to the subject now: while the second factor was asked for, they may have been
 * bound to this subject or another one, and somebody else to this one.
 */
export async function bindAfterCode(tx: Tx, binding: Binding): Promise<boolean> {
  const holder = await findHolder(tx, binding.subject);
  return holder === undefined ? await bindIdentity(tx, binding) : holder.id === binding.personId;
}

/** Returns false when the person is bound already. Their link ends: its holder could otherwise sign in as them. */
async function bindIdentity(tx: Tx, { personId, subject, now: at, address }: Binding) {
  const bound = await tx
    .updateTable('person')
    .set({ single_sign_on: subject })
    .where('id', '=', personId)
    .where('single_sign_on', 'is', null)
    .where('disabled', '=', 0)
    .returning(['account_id as accountId', 'email'])
    .executeTakeFirst();
  if (bound === undefined) return false;
  await tx.deleteFrom('one_time_link').where('person_id', '=', personId).execute();
  await auditPerson(tx, { name: bound.email, address, at }, bound, 'single_sign_on_bound');
  return true;
}
