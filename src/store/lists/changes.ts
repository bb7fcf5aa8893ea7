import { randomBytes } from 'node:crypto';
import { type Point, toCursor } from '../../domain/cursor.ts';
import type { ChangeType } from '../../domain/events.ts';
import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { readNow } from '../work/clock.ts';
import type { NoteGone } from '../work/gone.ts';

/*
 * The order of an account's changes. Each takes the next number of its account: a report that is stored, corrected or listed,
 * an alert that fires, resolves or gets new figures, a report that is removed, a domain that is listed, unlisted or removed.
 * A transaction takes its numbers from the account's row, which it holds until it ends, so that a number becomes visible only
 * after all smaller ones (decision 58). Reports and alerts carry their numbers. The table `change` has a row for each
 * transaction with its last number and its nonce, and rows for what has no row of its own any more.
 */

/** Rows of `change` go after so many days. What follows an account by them begins again then. */
export const CHANGE_DAYS = 400;

/** The feed's id: it has an order of its own, and cursors. */
export const feedList = (accountId: string) => `changes ${accountId}`;

/** The feed's cursor behind a change. */
export function toFeedCursor(accountId: string, { number, nonce }: Point): string {
  return toCursor(feedList(accountId), { key: number, number, nonce });
}

/** Random, of a transaction. It distinguishes the numbers of the transaction from the same ones before a restore. */
export function newNonce(): string {
  return randomBytes(6).toString('base64url');
}

/** What takes numbers. Its `type` has none where reports or alerts carry the numbers. */
export interface NewChange {
  readonly accountId: string;
  readonly at: Instant;
  /** How many numbers are taken; one without. */
  readonly count?: number;
  readonly type?: ChangeType;
  readonly domainId?: string;
  /** Reports that were removed: each takes a number, and has a row. */
  readonly reportIds?: readonly string[];
  /** The transaction's nonce, where rows have it too. */
  readonly nonce?: string;
}

/** The account, and the last of the numbers taken. */
export interface Taken {
  readonly accountSeq: number;
  readonly number: number;
}

/** Takes the next numbers. Locks the account, after domains (decision 64). */
export async function takeNumbers(tx: Tx, change: NewChange): Promise<Taken> {
  const { accountId, nonce = newNonce(), reportIds = [null] } = change;
  const { count = reportIds.length } = change;
  const { seq: accountSeq, number } = await tx
    .updateTable('account')
    .set((eb) => ({ changes: eb('changes', '+', count), changes_nonce: nonce }))
    .where('id', '=', accountId)
    .returning(['seq', 'changes as number'])
    .executeTakeFirstOrThrow();
  const first = number - reportIds.length + 1;
  const rows = reportIds.map((id, i) =>
    toRow(change, { accountSeq, number: first + i, nonce }, id),
  );
  await runAllPrepared(tx, changeInserts(rows));
  return { accountSeq, number };
}

export function toRow(
  { at, type, domainId }: Pick<NewChange, 'at' | 'type' | 'domainId'>,
  { accountSeq: account_seq, number, nonce }: Taken & Point,
  report_id: string | null = null,
) {
  const about = { domain_id: domainId ?? null, report_id, type: type ?? null };
  return { account_seq, number, at, ...about, nonce };
}

export const changeInserts = prepareRows(
  ['account_seq', 'number', 'at', 'domain_id', 'report_id', 'type', 'nonce'],
  (db, rows: readonly RowOf<ReturnType<typeof toRow>>[]) => db.insertInto('change').values(rows),
);

type PointQuery = { accountId: string; number: number };

/** The row of the transaction that took a number, and the first one that is kept before it. None for a number not taken yet. */
const changeAt = prepareQuery((db, param: Param<PointQuery>) =>
  db
    .selectFrom('change')
    .select(['number', 'nonce'])
    .select(({ selectFrom }) =>
      selectFrom('change as earlier')
        .select('earlier.number')
        .whereRef('earlier.account_seq', '=', 'change.account_seq')
        .where('earlier.number', '<', param('number'))
        // For `exists`, PostgreSQL would read the rows of all accounts.
        .orderBy('earlier.number')
        .limit(1)
        .as('earlier'),
    )
    .where('account_seq', '=', ({ selectFrom }) =>
      selectFrom('account').select('seq').where('id', '=', param('accountId')),
    )
    .where('number', '>=', param('number'))
    .orderBy('number')
    .limit(1),
);

/**
 * Whether an account, whose newest change is given, has a change: `lost` after a restore to a moment before it, `forgotten`
 * when it is older than changes are kept.
 */
export function* findChange(
  accountId: string,
  { number, nonce }: Point,
  newest: Point,
): Plan<'known' | 'lost' | 'forgotten'> {
  if (number === newest.number) return nonce === newest.nonce ? 'known' : 'lost';
  const [change] = yield* ask(changeAt({ accountId, number }));
  if (change?.number === number) return change.nonce === nonce ? 'known' : 'lost';
  return change === undefined || change.earlier !== null ? 'lost' : 'forgotten';
}

const ACCOUNTS_AT_ONCE = 500;
const ROWS_AT_ONCE = 1_000;

/** Deletes old rows, in bounded transactions. Returns whether it came to the end; doing it twice does no harm. */
export async function deleteOldChanges(
  db: Db,
  mayGoOn: () => Promise<boolean>,
  noteGone?: NoteGone,
): Promise<boolean> {
  const before = later(await readNow(db), -CHANGE_DAYS * DAY_MS);
  const first = db.selectFrom('account').select('seq').orderBy('seq').limit(ACCOUNTS_AT_ONCE);
  let accounts = await first.execute();
  while (accounts.length > 0) {
    for (const { seq } of accounts)
      while (await deleteSome(db, { seq, before, noteGone })) if (!(await mayGoOn())) return false;
    accounts = await first.where('seq', '>', accounts.at(-1)?.seq ?? 0).execute();
  }
  return true;
}

/**
 * Returns whether some may be left. Numbers are taken in the order of their moments, but for clocks that differ. The
 * newest row stays: by it a cursor of before a restore is told from one that is only old.
 */
async function deleteSome(
  db: Db,
  { seq, before, noteGone }: { seq: number; before: Instant; noteGone: NoteGone | undefined },
): Promise<boolean> {
  const oldest = await db
    .selectFrom('change')
    .select(['number', 'at'])
    .where('account_seq', '=', seq)
    .orderBy('number')
    // The last one stays: it is new, the newest, or the next part's first.
    .limit(ROWS_AT_ONCE + 1)
    .execute();
  const kept = oldest.find(({ at }) => at >= before) ?? oldest.at(-1);
  if (kept === undefined || kept === oldest[0]) return false;
  const old = (tx: Tx) => tx.deleteFrom('change').where('account_seq', '=', seq);
  await db.write((tx) => old(tx).where('number', '<', kept.number).execute());
  noteGone?.('changes', oldest.indexOf(kept));
  return kept.at < before && oldest.length > ROWS_AT_ONCE;
}
