import { sql } from 'kysely';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';

/*
 * Senders take turns (start-time fair queueing): a mail's turn is the next one of the inbox, or the one after the last
 * turn of its sender that waits. So of many mails of one sender each has a later turn, and another sender's mail waits
 * for one or two of them. A turn ends, because mails that come while it lasts get the next: nobody waits for ever.
 */

/**
 * The turn of the mail that was done last, and the last turn that waits of the sender; null for none. SQLite uses an index
 * of waiting mails only when the statement has the state itself.
 */
const turnsOf = prepareQuery((db, param: Param<{ readonly sender: string }>) => {
  const reached = db
    .selectFrom('inbox_mail')
    .select('turn')
    .where('state', '=', sql.lit('done'))
    .orderBy('done_at', 'desc')
    .orderBy('turn', 'desc')
    .limit(1);
  const last = db
    .selectFrom('inbox_mail')
    .select((eb) => eb.fn.max('turn').as('turn'))
    .where('state', '=', sql.lit('waiting'))
    .where('sender', '=', param('sender'));
  return db.selectNoFrom([dialectOf(db).clockMs.as('now'), reached.as('reached'), last.as('last')]);
});

/** The mails with their turns, in the same order. Asks for the time and the turns at once. */
export async function takeTurns<Mail extends { readonly sender: string }>(
  tx: Tx,
  mails: readonly Mail[],
): Promise<(Mail & { readonly due_at: Instant; readonly turn: number })[]> {
  const senders = [...new Set(mails.map(({ sender }) => sender))];
  const asked = senders.map((sender) => turnsOf({ sender }));
  const latest = (await runAllPrepared(tx, asked)).flat();
  const turns = new Map(
    latest.map(({ reached, last }, i) => [senders[i], Math.max(reached ?? 0, last ?? 0)]),
  );
  const due_at = toInstant(new Date(Number(latest[0]?.now)));
  return mails.map((mail) => {
    const turn = (turns.get(mail.sender) ?? 0) + 1;
    turns.set(mail.sender, turn);
    return { ...mail, due_at, turn };
  });
}
