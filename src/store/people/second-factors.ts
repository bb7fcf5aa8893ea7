import type { AuditAction } from '../../domain/access/audit-actions.ts';
import { Failure } from '../../domain/failure.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Actor, operator } from '../events/audit.ts';
import { auditPerson, endSessions, lockPerson } from './people.ts';
import { requireProof } from './sessions.ts';

export type SecondFactor = NonNullable<Awaited<ReturnType<typeof findSecondFactor>>>;

/** One that waits for its first code has no `confirmedAt`. */
export async function findSecondFactor(db: Db, personId: string) {
  return await db
    .selectFrom('second_factor')
    .select(['sealed_secret as sealedSecret', 'confirmed_at as confirmedAt'])
    .select((eb) => [
      'last_step as lastStep',
      eb
        .selectFrom('recovery_code')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('recovery_code.person_id', '=', 'second_factor.person_id')
        .$asScalar()
        .$notNull()
        .as('recoveryCodes'),
    ])
    .where('person_id', '=', personId)
    .executeTakeFirst();
}

/** Stores a secret that waits for its first code, in place of one that waits. Throws `conflict` if one is in use. */
export async function startSecondFactor(db: Db, personId: string, sealedSecret: string) {
  const row = { sealed_secret: sealedSecret, confirmed_at: null, last_step: 0 };
  const { numInsertedOrUpdatedRows } = await db.write((tx) =>
    tx
      .insertInto('second_factor')
      .values({ ...row, person_id: personId })
      .onConflict((oc) =>
        oc.column('person_id').doUpdateSet(row).where('second_factor.confirmed_at', 'is', null),
      )
      .executeTakeFirstOrThrow(),
  );
  if (numInsertedOrUpdatedRows === 0n) throw isOnAlready();
}

/** A code of the app that was right for this secret, in this time step. */
export type TotpProof = { readonly sealedSecret: string; readonly step: number };

export type CodeProof = TotpProof | { readonly recoverySha256: Uint8Array };

/** A person who changes what is theirs. */
export type Self = Actor & { readonly personId: string; readonly accountId: string };

interface Confirmation {
  /** The hash of the password that was entered: a session alone must not suffice to shut its person out. */
  readonly passwordHash: string;
  readonly proof: TotpProof;
  readonly recoveryHashes: readonly Uint8Array[];
  readonly sessionId: string;
}

/** Turns a second factor on, and ends the person's other sessions: they began without it. */
export async function confirmSecondFactor(
  db: Db,
  { passwordHash, proof, recoveryHashes, sessionId }: Confirmation,
  by: Self,
): Promise<void> {
  const { personId: person_id, at: confirmed_at } = by;
  await changeOwn(db, by, { passwordHash, action: 'second_factor_on' }, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('second_factor')
      .set({ confirmed_at, last_step: proof.step })
      .where(({ and }) => and({ person_id, sealed_secret: proof.sealedSecret, confirmed_at: null }))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw isOnAlready();
    await replaceRecoveryCodes(tx, person_id, recoveryHashes);
    const others = tx.deleteFrom('session').where('person_id', '=', person_id);
    await others.where('id', '<>', sessionId).execute();
  });
}

function isOnAlready(): Failure {
  return new Failure('conflict', 'Your second factor was changed meanwhile. Load the page again.');
}

type Proofs = { readonly passwordHash: string; readonly code: CodeProof };

export async function deleteSecondFactor(db: Db, { passwordHash, code }: Proofs, by: Self) {
  await changeOwn(db, by, { passwordHash, action: 'second_factor_off' }, async (tx) => {
    await spendCode(tx, by, code);
    await removeSecondFactor(tx, by.personId);
  });
}

/** The codes from before are not accepted any more. */
export async function renewRecoveryCodes(
  db: Db,
  proofs: Proofs & { readonly recoveryHashes: readonly Uint8Array[] },
  by: Self,
): Promise<void> {
  const { passwordHash, code, recoveryHashes } = proofs;
  await changeOwn(db, by, { passwordHash, action: 'recovery_codes_renewed' }, async (tx) => {
    await spendCode(tx, by, code);
    await replaceRecoveryCodes(tx, by.personId, recoveryHashes);
  });
}

async function changeOwn(
  db: Db,
  by: Self,
  { passwordHash, action }: { readonly passwordHash: string; readonly action: AuditAction },
  change: (tx: Tx) => Promise<void>,
): Promise<void> {
  await db.write(async (tx) => {
    await requireProof(tx, by.personId, { password_hash: passwordHash });
    await change(tx);
    await auditSelf(tx, by, action);
  });
}

/** Removes a person's second factor, also one that waits, and ends their sessions; false when none was on. */
export async function resetSecondFactor(db: Db, personId: string) {
  const by = operator();
  return await db.write(async (tx) => {
    const person = await lockPerson(tx, personId, by);
    if (!(await removeSecondFactor(tx, personId))) return false;
    await endSessions(tx, personId);
    await auditPerson(tx, by, person, 'second_factor_reset');
    return true;
  });
}

/** Uses up a code. The second of two requests with the same one throws `unauthorized`. */
export async function spendCode(tx: Tx, by: Self, code: CodeProof): Promise<void> {
  const isSpent =
    'step' in code ? await spendStep(tx, by, code) : await spendRecovery(tx, by, code);
  if (!isSpent) throw new Failure('unauthorized', 'This code was used already.');
}

async function spendStep(tx: Tx, { personId }: Self, code: TotpProof): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('second_factor')
    .set({ last_step: code.step })
    .where(({ and }) => and({ person_id: personId, sealed_secret: code.sealedSecret }))
    .where('confirmed_at', 'is not', null)
    .where('last_step', '<', code.step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function spendRecovery(tx: Tx, by: Self, { recoverySha256 }: Exclude<CodeProof, TotpProof>) {
  const { numDeletedRows } = await tx
    .deleteFrom('recovery_code')
    .where(({ and }) => and({ person_id: by.personId, sha256: recoverySha256 }))
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await auditSelf(tx, by, 'recovery_code_used');
  return true;
}

/** Deletes a factor and its codes. Returns whether it was on, and did not only wait for its first code. */
export async function removeSecondFactor(tx: Tx, personId: string): Promise<boolean> {
  await tx.deleteFrom('recovery_code').where('person_id', '=', personId).execute();
  const factor = tx.deleteFrom('second_factor').where('person_id', '=', personId);
  const deleted = await factor.returning('confirmed_at').executeTakeFirst();
  return deleted !== undefined && deleted.confirmed_at !== null;
}

async function replaceRecoveryCodes(tx: Tx, person_id: string, hashes: readonly Uint8Array[]) {
  await tx.deleteFrom('recovery_code').where('person_id', '=', person_id).execute();
  const rows = hashes.map((sha256) => ({ person_id, sha256 }));
  await tx.insertInto('recovery_code').values(rows).execute();
}

async function auditSelf(tx: Tx, by: Self, action: AuditAction): Promise<void> {
  await auditPerson(tx, by, { accountId: by.accountId, email: by.name }, action);
}
