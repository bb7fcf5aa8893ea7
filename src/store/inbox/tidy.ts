import { addDays, type Instant, toDay, toInstant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { readClockMs } from '../work/clock.ts';
import type { NoteGone } from '../work/gone.ts';
import { deleteParts, toFirstId } from './parts.ts';

/** How long the row of a mail that is done stays, for operators. */
export const MAIL_DAYS = 90;
/** How many of them stay: anybody can send mails. */
const KEPT_ROWS = 1_000_000;
const ROWS_AT_ONCE = 500;
/** A mail takes less time to come in. Parts that have no mail after this time never get one. */
const INCOMING_MS = 24 * 3_600_000;
/** Longer than any pause and any claim. A mail that is due later was stored before the clock was set back. */
const LONGEST_MS = 8 * 3_600_000;

/** Runs in bounded transactions, in any number of processes. */
export async function tidyInbox(
  db: Db,
  { keptRows = KEPT_ROWS, noteGone }: { keptRows?: number; noteGone?: NoteGone } = {},
): Promise<void> {
  const nowMs = await readClockMs(db);
  const old = `${addDays(toDay(toInstant(new Date(nowMs))), -MAIL_DAYS)}T00:00:00Z`;
  const excess = await findDoneAt(db, keptRows);
  const before = excess === undefined || excess < old ? old : excess;
  await deleteOldMails(db, before, noteGone);
  await deleteLostParts(db, nowMs);
  await correctTimes(db, nowMs);
}

/** After the database's clock was set back, mails must not wait for the time that it had before. */
async function correctTimes(db: Db, nowMs: number): Promise<void> {
  const latest = toInstant(new Date(nowMs + LONGEST_MS));
  const waiting = db.selectFrom('inbox_mail').select('seq').where('state', '=', 'waiting');
  const late = waiting.where('due_at', '>', latest).limit(1);
  if ((await late.executeTakeFirst()) === undefined) return;
  const now = toInstant(new Date(nowMs));
  await db.write((tx) =>
    tx
      .updateTable('inbox_mail')
      .set({ due_at: now })
      .where('state', '=', 'waiting')
      .where('due_at', '>', latest)
      .execute(),
  );
}

/** When the mail was done after which `later` others were done; undefined when there are fewer. */
async function findDoneAt(db: Db, later: number): Promise<Instant | undefined> {
  const done = db.selectFrom('inbox_mail').select('done_at').where('state', '=', 'done');
  const row = await done.orderBy('done_at', 'desc').offset(later).limit(1).executeTakeFirst();
  return row?.done_at ?? undefined;
}

/** Deletes rows only. `deleteLostParts` deletes the parts that have no row then. */
async function deleteOldMails(db: Db, before: string, noteGone?: NoteGone): Promise<void> {
  for (;;) {
    const old = await db
      .selectFrom('inbox_mail')
      .select('seq')
      .where('state', '=', 'done')
      .where('done_at', '<', before)
      .orderBy('done_at')
      .limit(ROWS_AT_ONCE)
      .execute();
    if (old.length === 0) return;
    const seqs = old.map(({ seq }) => seq);
    // A mail that an operator has had read again since stays.
    await db.write((tx) =>
      tx
        .deleteFrom('inbox_mail')
        .where('seq', 'in', seqs)
        .where('state', '=', 'done')
        .where('done_at', '<', before)
        .execute(),
    );
    noteGone?.('mails', seqs.length);
  }
}

/**
 * Parts of mails that did not come in to their end, or whose row was deleted, because a process was killed. The id of a mail
 * of one part has the clock of the process that received it, which may have been ahead.
 */
async function deleteLostParts(db: Db, nowMs: number): Promise<void> {
  for (;;) {
    const lost = await db
      .selectFrom('inbox_part')
      .select('mail_id')
      .distinct()
      .where((eb) =>
        eb.or([
          eb('mail_id', '<', toFirstId(nowMs - INCOMING_MS)),
          eb('mail_id', '>=', toFirstId(nowMs + INCOMING_MS)),
        ]),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('inbox_mail')
              .select('seq')
              .whereRef('inbox_mail.id', '=', 'inbox_part.mail_id'),
          ),
        ),
      )
      .limit(ROWS_AT_ONCE)
      .execute();
    if (lost.length === 0) return;
    for (const { mail_id } of lost) await deleteParts(db, mail_id);
  }
}
