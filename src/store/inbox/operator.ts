import { Failure } from '../../domain/failure.ts';
import type { MailState } from '../../domain/incoming.ts';
import { toInstant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readClockMs, readNow } from '../work/clock.ts';
import { CLAIMED_COLUMNS, type ClaimedMail, type Holder, toClaimed } from './claims.ts';
import { noMail, toState } from './mails.ts';
import { deleteParts } from './parts.ts';

/** Makes a waiting or stuck mail due now, as if it had never been tried. Throws `not_found` or `conflict`. */
export async function retryMail(db: Db, seq: number): Promise<void> {
  await db.write(async (tx) => {
    await requireState(tx, seq, ['waiting', 'stuck']);
    const waiting = { state: 'waiting', due_at: await readNow(tx), tries: 0 } as const;
    await tx.updateTable('inbox_mail').set(waiting).where('seq', '=', seq).execute();
  });
}

export async function listStuck(db: Db): Promise<number[]> {
  const stuck = db.selectFrom('inbox_mail').select('seq').where('state', '=', 'stuck');
  return (await stuck.orderBy('seq').execute()).map(({ seq }) => seq);
}

/** Ends a waiting or stuck mail: it is not read, and its bytes are deleted. Its row stays. */
export async function dropMail(db: Db, seq: number): Promise<void> {
  const { id } = await db.write(async (tx) => {
    const mail = await requireState(tx, seq, ['waiting', 'stuck']);
    await tx
      .updateTable('inbox_mail')
      .set({ state: 'done', result: 'dropped', due_at: null, done_at: await readNow(tx) })
      .where('seq', '=', seq)
      .execute();
    return mail;
  });
  await deleteParts(db, id);
}

/** The tries of a mail that an operator waits for: a mail is postponed at its first try only. */
const READ_AT_ONCE = 2;

/** Claims a mail that is done, to read it again. After a kill the claim ends, and a worker reads the mail. */
export async function reclaimMail(db: Db, holder: Holder, seq: number): Promise<ClaimedMail> {
  return await db.write(async (tx) => {
    await requireState(tx, seq, ['done']);
    const due_at = toInstant(new Date((await readClockMs(tx)) + holder.claimMs));
    const row = await tx
      .updateTable('inbox_mail')
      .set({ state: 'waiting', claimed_by: holder.id, due_at, tries: READ_AT_ONCE, ...UNDONE })
      .where('seq', '=', seq)
      .returning(CLAIMED_COLUMNS)
      .executeTakeFirstOrThrow();
    return toClaimed(row, true);
  });
}

const UNDONE = { result: null, counts: null, reason: null, done_at: null } as const;

/** Locks the mail until the transaction ends, by an update without a change. Throws `not_found` or `conflict`. */
async function requireState(tx: Tx, seq: number, states: readonly MailState[]) {
  const mail = await tx
    .updateTable('inbox_mail')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('seq', '=', seq)
    .returning(['id', 'state', 'claimed_by'])
    .executeTakeFirstOrThrow(() => noMail(seq));
  const state = toState(mail);
  if (states.includes(state)) return mail;
  throw new Failure('conflict', `mail-${seq} ${REFUSALS[state]}`);
}

const REFUSALS: Readonly<Record<MailState, string>> = {
  waiting: 'was not read yet: it waits.',
  stuck: 'was not read yet: it is stuck. plumbline inbox retry',
  claimed: 'is being read now.',
  done: 'is done already. plumbline inbox reread reads it again.',
};
