import { type Selectable, sql } from 'kysely';
import { toHex } from '../../domain/hex.ts';
import { toInstant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';
import { readClockMs, readNow } from '../work/clock.ts';
import { isGone } from '../work/holder.ts';

/* A claim ends by itself: `due_at` of a claimed mail is when others may claim it. All times are the database's. */

/** After so many claims that led to no result, a mail is stuck. */
export const MAX_TRIES = 10;

const CLAIMED_COLUMNS = [
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

/** `isAgain`: a worker has read it before, to its end perhaps, and recorded nothing. */
function toClaimed(row: ClaimedRow, isAgain: boolean) {
  return { ...row, sha256: toHex(row.sha256), isAgain };
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

/** Claims mails by their turns, and the oldest first of one turn. `isAll`: no other mail waits. */
export async function claimMails(db: Db, options: ClaimOptions) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if ((await listDue(db, await readNow(db), 1)).length === 0) break;
    const claimed = await db.write((tx) => claimSome(tx, options));
    if (claimed.mails.length > 0) return claimed;
  }
  return { mails: [], isAll: true };
}

/** How often this worker chooses again after other workers have claimed what it had chosen. */
const MAX_ATTEMPTS = 10;

async function claimSome(tx: Tx, options: ClaimOptions) {
  const nowMs = await readClockMs(tx);
  const now = toInstant(new Date(nowMs));
  const due = await listDue(tx, now, options.mails);
  await giveUp(tx, due, now);
  const chosen = choose(due, options.bytes);
  const mails = chosen.length === 0 ? [] : await claim(tx, chosen, { ...options, nowMs });
  return { mails, isAll: mails.length === due.length && due.length < options.mails };
}

type DueMail = Awaited<ReturnType<typeof listDue>>[number];

async function listDue(db: Pick<Db, 'selectFrom'>, now: string, limit: number) {
  return await db
    .selectFrom('inbox_mail')
    .select(['seq', 'tries', 'byte_count', 'claimed_by'])
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

/**
 * The first mail, and those after it that may be read together with it. A mail that failed is claimed alone. Of the mails that a
 * worker had when it was killed, any one may be the cause: half of them are claimed together, and of these half again if that
 * worker is killed too, until the cause is alone. A claim of several such mails uses up no try.
 */
function choose(due: readonly DueMail[], bytes: number): DueMail[] {
  const able = due.filter(({ tries }) => tries < MAX_TRIES);
  const toGroup = ({ claimed_by, tries, seq }: DueMail) => claimed_by ?? (tries > 0 ? seq : 0);
  const isWithFirst = (mail: DueMail) => toGroup(mail) === toGroup(able[0] ?? mail);
  const group = able.filter(isWithFirst);
  const most = isInterrupted(group) ? Math.ceil(group.length / 2) : group.length;
  let size = 0;
  const end = able.findIndex((mail, i) => {
    size += mail.byte_count;
    return i >= most || !isWithFirst(mail) || (i > 0 && size > bytes);
  });
  return end === -1 ? able : able.slice(0, end);
}

const isInterrupted = ([first]: readonly DueMail[]): boolean => first?.claimed_by != null;

/** When several workers have chosen the same mails, only the first finds them due. */
async function claim(
  tx: Tx,
  chosen: readonly DueMail[],
  { holder, nowMs }: ClaimOptions & { nowMs: number },
): Promise<ClaimedMail[]> {
  const again = new Map(chosen.map(({ seq, tries }) => [seq, tries > 0]));
  const costsTry = chosen.length === 1 || !isInterrupted(chosen);
  const rows = await tx
    .updateTable('inbox_mail')
    .set((eb) => ({
      claimed_by: holder.id,
      due_at: toInstant(new Date(nowMs + holder.claimMs)),
      tries: eb('tries', '+', Number(costsTry)),
    }))
    .where(isOneOf(tx, [...again.keys()]))
    .where('due_at', '<=', toInstant(new Date(nowMs)))
    .returning(CLAIMED_COLUMNS)
    .execute();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return [...again].flatMap(([seq, isAgain]) => {
    const row = bySeq.get(seq);
    return row === undefined ? [] : [toClaimed(row, isAgain)];
  });
}

/** A process that was killed keeps no mail from the others of its machine. */
export async function endClaimsOfGone(db: Db): Promise<void> {
  const waiting = db.selectFrom('inbox_mail').where('state', '=', 'waiting');
  const holders = await waiting.select('claimed_by as id').distinct().execute();
  const gone = holders.flatMap(({ id }) => (id !== null && isGone(id) ? [id] : []));
  if (gone.length === 0) return;
  await db.write(async (tx) => {
    const ended = tx.updateTable('inbox_mail').set({ due_at: await readNow(tx) });
    await ended.where('state', '=', 'waiting').where('claimed_by', 'in', gone).execute();
  });
}

/** Claims that have ended, and mails that other workers have claimed since, stay as they are. */
export async function renewClaims(db: Db, holder: Holder, seqs: readonly number[]): Promise<void> {
  await db.write(async (tx) => {
    const due_at = toInstant(new Date((await readClockMs(tx)) + holder.claimMs));
    await changeClaimed(tx, holder, seqs).set({ due_at }).execute();
  });
}

/** Mails that were not read can be claimed again, at once or after a pause, and lose no try that was their first. */
export async function releaseMails(
  db: Db,
  holder: Holder,
  { mails, pauseMs = 0 }: { readonly mails: readonly ClaimedMail[]; readonly pauseMs?: number },
): Promise<void> {
  await db.write(async (tx) => {
    const due_at = toInstant(new Date((await readClockMs(tx)) + pauseMs));
    for (const [isAgain, some] of Map.groupBy(mails, (mail) => mail.isAgain))
      await changeClaimed(tx, holder, toSeqs(some))
        .set((eb) => ({ claimed_by: null, due_at, tries: eb('tries', '-', Number(!isAgain)) }))
        .execute();
  });
}

export const toSeqs = (mails: readonly Pick<ClaimedMail, 'seq'>[]): number[] =>
  mails.map(({ seq }) => seq);

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
