import type { Db, Tx } from '../engine/database.ts';
import { type ClaimedMail, changeClaimed, type Holder, readNow } from './claims.ts';
import { toCut } from './incoming.ts';
import { deleteParts, PART_BYTES } from './parts.ts';
import type { DoneResult } from './tables.ts';

const MAX_REASON_CHARS = 500;

/** What became of a mail that was read. */
export interface Done {
  readonly mail: ClaimedMail;
  readonly result: DoneResult;
  /** How many documents had each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly reason: string | null;
  /** Whether the bytes stay in the inbox as long as the row, because they are stored nowhere else. */
  readonly keepsBytes: boolean;
}

/**
 * Records what became of mails, and deletes bytes that are not needed any more. A mail that another worker has claimed
 * since is left to that worker, which finds the same. Returns how many were recorded.
 */
export async function finishMails(db: Db, holder: Holder, mails: readonly Done[]): Promise<number> {
  const finished = await db.write(async (tx) => {
    const now = await readNow(tx);
    const finished: Done[] = [];
    for (const done of mails) if (await finish(tx, holder, { done, now })) finished.push(done);
    return finished;
  });
  const large = finished.filter(
    ({ mail, keepsBytes }) => !keepsBytes && mail.byteCount > PART_BYTES,
  );
  for (const { mail } of large) await deleteParts(db, mail.id);
  return finished.length;
}

async function finish(
  tx: Tx,
  holder: Holder,
  { done: { mail, result, counts, reason, keepsBytes }, now }: { done: Done; now: string },
): Promise<boolean> {
  const { numUpdatedRows } = await changeClaimed(tx, holder, [mail.seq])
    .set({
      state: 'done',
      due_at: null,
      claimed_by: null,
      last_error: null,
      result,
      counts: JSON.stringify(counts),
      reason: reason === null ? null : toCut(reason, MAX_REASON_CHARS),
      done_at: now,
    })
    .executeTakeFirst();
  const isSmall = mail.byteCount <= PART_BYTES;
  if (numUpdatedRows > 0n && isSmall && !keepsBytes)
    await tx.deleteFrom('inbox_part').where('mail_id', '=', mail.id).execute();
  return numUpdatedRows > 0n;
}
