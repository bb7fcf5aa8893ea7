import { type DoneResult, toCut, type UploadOutcome } from '../../domain/incoming.ts';
import { type Instant, later } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readNow } from '../work/clock.ts';
import { type ClaimedMail, changeClaimed, type Holder, MAX_TRIES } from './claims.ts';
import { deleteParts, deleteSmall, PART_BYTES } from './parts.ts';

/* What a worker records of the mails that it has claimed. */

/** The pause after a failure: a minute, four, sixteen …, at most six hours. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 6 * 3_600_000;
/** So much is stored of an error, and of the reason why there is no report. */
const MAX_TEXT_CHARS = 500;

/** A fault of our own: the mails are tried again after a pause, or are stuck. */
export async function failMails(
  db: Db,
  holder: Holder,
  { mails, error }: { readonly mails: readonly ClaimedMail[]; readonly error: string },
): Promise<void> {
  await db.write(async (tx) => {
    const now = await readNow(tx);
    for (const { seq, tries } of mails) {
      const next =
        tries >= MAX_TRIES
          ? { state: 'stuck' as const, due_at: null }
          : { state: 'waiting' as const, due_at: later(now, toPauseMs(tries)) };
      const failed = { claimed_by: null, last_error: toCut(error, MAX_TEXT_CHARS), ...next };
      await changeClaimed(tx, holder, [seq]).set(failed).execute();
    }
  });
}

/** So many mails of its sender a costly mail counts as: what it may cost is a hundred times what others do. */
const POSTPONED_TURNS = 100;

/** Costly mails go behind all that wait, and those of their sender behind them. They can be claimed again at once. */
export async function postponeMails(db: Db, holder: Holder, seqs: readonly number[]) {
  await db.write(async (tx) => {
    const due_at = await readNow(tx);
    // The index has this order: `done_at` of all of them is null.
    const last = await tx
      .selectFrom('inbox_mail')
      .select('turn')
      .where('state', '=', 'waiting')
      .orderBy('done_at', 'desc')
      .orderBy('turn', 'desc')
      .limit(1)
      .executeTakeFirst();
    const turn = (last?.turn ?? 0) + POSTPONED_TURNS;
    const last_error = 'It is costly: it is read after those of others.';
    const postponed = { claimed_by: null, due_at, turn, last_error };
    await changeClaimed(tx, holder, seqs).set(postponed).execute();
  });
}

/** At random, so that mails that failed together are not all tried again together. */
function toPauseMs(tries: number): number {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 4 ** (tries - 1), MAX_PAUSE_MS);
  return pauseMs * (0.8 + Math.random() * 0.4);
}

export interface Done {
  readonly mail: ClaimedMail;
  readonly result: DoneResult;
  /** How many documents had each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly reason: string | null;
  /** Absent unless it is an upload. */
  readonly outcomes?: readonly UploadOutcome[] | undefined;
  /** Whether the bytes stay in the inbox as long as the row, because they are stored nowhere else. */
  readonly keepsBytes: boolean;
}

/**
 * Records results, and deletes bytes that are not needed any more. Returns how many it recorded: a mail that another
 * worker has claimed since is left to that worker, which finds the same.
 */
export async function finishMails(db: Db, holder: Holder, mails: readonly Done[]): Promise<number> {
  const same = Map.groupBy(mails, ({ result, counts, reason, outcomes }) =>
    JSON.stringify([result, counts, reason, outcomes]),
  );
  const finished = await db.write(async (tx) => {
    const now = await readNow(tx);
    const finished: Done[] = [];
    for (const some of same.values()) finished.push(...(await finish(tx, holder, { some, now })));
    await deleteSmall(tx, toDeleted(finished.filter(isSmall)));
    return finished;
  });
  for (const id of toDeleted(finished.filter((done) => !isSmall(done)))) await deleteParts(db, id);
  return finished.length;
}

const isSmall = ({ mail }: Done): boolean => mail.byte_count <= PART_BYTES;

const toDeleted = (mails: readonly Done[]): string[] =>
  mails.flatMap(({ mail, keepsBytes }) => (keepsBytes ? [] : [mail.id]));

/** Records the same result of several mails. */
async function finish(
  tx: Tx,
  holder: Holder,
  { some, now }: { some: readonly Done[]; now: Instant },
): Promise<Done[]> {
  const [{ result, counts, reason, outcomes }] = some as [Done];
  const rows = await changeClaimed(
    tx,
    holder,
    some.map(({ mail }) => mail.seq),
  )
    .set({
      state: 'done',
      due_at: null,
      claimed_by: null,
      last_error: null,
      result,
      counts: JSON.stringify(counts),
      reason: reason === null ? null : toCut(reason, MAX_TEXT_CHARS),
      outcomes: outcomes === undefined ? null : JSON.stringify(outcomes),
      done_at: now,
    })
    .returning('seq')
    .execute();
  const seqs = new Set(rows.map(({ seq }) => seq));
  return some.filter(({ mail }) => seqs.has(mail.seq));
}
