import { Failure } from '../../domain/failure.ts';
import type { MailState } from '../../domain/incoming.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readNow } from '../work/clock.ts';
import { noMail, toState } from './mails.ts';
import { deleteParts } from './parts.ts';

/** Makes a mail due now, as if it had never been tried; one that is done, too. Throws `not_found` or `conflict`. */
export async function retryMail(db: Db, seq: number): Promise<void> {
  await db.write(async (tx) => {
    await requireState(tx, seq, ['waiting', 'stuck', 'done']);
    const waiting = { state: 'waiting', due_at: await readNow(tx), tries: 0, ...UNDONE } as const;
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
  done: 'is done already. plumbline inbox retry reads it again.',
};
