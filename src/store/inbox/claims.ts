import { type Selectable, sql } from 'kysely';
import { toHex } from '../../domain/hex.ts';
import { toInstant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';
import { readClockMs, readNow } from '../work/clock.ts';

/* A claim ends by itself: `due_at` of a claimed mail is when others may claim it. All times are the database's. */

/** After so many claims that led to no result, a mail is stuck. */
export const MAX_TRIES = 10;

export const CLAIMED_COLUMNS = [
  'seq',
  'id',
  'door',
  'envelope',
  'received_at',
  'byte_count',
  'sha256',
  'account_id',
  'tries',
] as const;

type ClaimedRow = Pick<Selectable<Tables['inbox_mail']>, (typeof CLAIMED_COLUMNS)[number]>;

export type ClaimedMail = Readonly<ReturnType<typeof toClaimed>>;

export function toClaimed(row: ClaimedRow) {
  return { ...row, sha256: toHex(row.sha256) };
}

export interface Holder {
  /** Different for each worker. */
  readonly id: string;
  /** How long its claims last when they are not renewed. */
  readonly claimMs: number;
}

interface ClaimOptions {
  readonly holder: Holder;
  readonly mails: number;
  /** The bytes of all claimed mails together, unless it is one mail. */
  readonly bytes: number;
}

/**
 * Claims mails by their turns, and the oldest first of one turn. A mail that was claimed before is claimed alone, so that
 * one that ends its worker again and again does not use up the tries of others.
 */
export async function claimMails(db: Db, options: ClaimOptions): Promise<ClaimedMail[]> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if ((await listDue(db, await readNow(db), 1)).length === 0) return [];
    const claimed = await db.write((tx) => claimSome(tx, options));
    if (claimed.length > 0) return claimed;
  }
  return [];
}

/** How often this worker chooses again after other workers have claimed what it had chosen. */
const MAX_ATTEMPTS = 10;

async function claimSome(tx: Tx, options: ClaimOptions): Promise<ClaimedMail[]> {
  const nowMs = await readClockMs(tx);
  const now = toInstant(new Date(nowMs));
  const due = await listDue(tx, now, options.mails);
  await giveUp(tx, due, now);
  const chosen = choose(due, options);
  return chosen.length === 0 ? [] : await claim(tx, chosen, { ...options, nowMs });
}

type DueMail = Pick<ClaimedMail, 'seq' | 'tries' | 'byte_count'>;

async function listDue(db: Pick<Db, 'selectFrom'>, now: string, limit: number): Promise<DueMail[]> {
  return await db
    .selectFrom('inbox_mail')
    .select(['seq', 'tries', 'byte_count'])
    .where('state', '=', 'waiting')
    .where('due_at', '<=', now)
    // The index has this order: `done_at` of all of them is null.
    .orderBy('done_at')
    .orderBy('turn')
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Mails whose last claim has ended without a result, because their worker ended, are stuck. */
async function giveUp(tx: Tx, due: readonly DueMail[], now: string): Promise<void> {
  const spent = due.filter(({ tries }) => tries >= MAX_TRIES).map(({ seq }) => seq);
  if (spent.length === 0) return;
  await tx
    .updateTable('inbox_mail')
    .set((eb) => ({
      state: 'stuck',
      due_at: null,
      claimed_by: null,
      last_error: eb.fn.coalesce('last_error', eb.val('The process that read it ended.')),
    }))
    .where('seq', 'in', spent)
    .where('due_at', '<=', now)
    .execute();
}

function choose(due: readonly DueMail[], { bytes }: ClaimOptions): number[] {
  const able = due.filter(({ tries }) => tries < MAX_TRIES);
  if (able[0] !== undefined && able[0].tries > 0) return [able[0].seq];
  const chosen: number[] = [];
  let size = 0;
  for (const { seq, tries, byte_count } of able) {
    size += byte_count;
    if (tries > 0 || (chosen.length > 0 && size > bytes)) break;
    chosen.push(seq);
  }
  return chosen;
}

/** When several workers have chosen the same mails, only the first finds them due. */
async function claim(
  tx: Tx,
  seqs: readonly number[],
  { holder, nowMs }: ClaimOptions & { nowMs: number },
): Promise<ClaimedMail[]> {
  const rows = await tx
    .updateTable('inbox_mail')
    .set((eb) => ({
      claimed_by: holder.id,
      due_at: toInstant(new Date(nowMs + holder.claimMs)),
      tries: eb('tries', '+', 1),
    }))
    .where(isOneOf(tx, seqs))
    .where('due_at', '<=', toInstant(new Date(nowMs)))
    .returning(CLAIMED_COLUMNS)
    .execute();
  const bySeq = new Map(rows.map((row) => [row.seq, toClaimed(row)]));
  return seqs.flatMap((seq) => bySeq.get(seq) ?? []);
}

/** Claims that have ended, and mails that other workers have claimed since, stay as they are. */
export async function renewClaims(db: Db, holder: Holder, seqs: readonly number[]): Promise<void> {
  await db.write(async (tx) => {
    const due_at = toInstant(new Date((await readClockMs(tx)) + holder.claimMs));
    await changeClaimed(tx, holder, seqs).set({ due_at }).execute();
  });
}

/** Mails that were not read can be claimed again, at once or after a pause, and lose no try. */
export async function releaseMails(
  db: Db,
  holder: Holder,
  { seqs, pauseMs = 0 }: { readonly seqs: readonly number[]; readonly pauseMs?: number },
): Promise<void> {
  await db.write(async (tx) => {
    const due_at = toInstant(new Date((await readClockMs(tx)) + pauseMs));
    await changeClaimed(tx, holder, seqs)
      .set((eb) => ({ claimed_by: null, due_at, tries: eb('tries', '-', 1) }))
      .execute();
  });
}

/** Changes the mails that the holder has claimed, and nobody else since. */
export function changeClaimed(tx: Tx, holder: Holder, seqs: readonly number[]) {
  return tx
    .updateTable('inbox_mail')
    .where(isOneOf(tx, seqs))
    .where('state', '=', 'waiting')
    .where('claimed_by', '=', holder.id);
}

const isOneOf = (tx: Tx, seqs: readonly number[]) =>
  dialectOf(tx).isIn(sql.ref('seq'), sql.val(JSON.stringify(seqs)), 'bigint');
