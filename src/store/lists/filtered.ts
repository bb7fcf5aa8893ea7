import { hash } from 'node:crypto';
import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';

/*
 * Lists that have a part of another list's items. Their total is counted; their version changes with it, and with the newest
 * item: what comes to such a list, or changes in it, gets a greater number than all before, and what leaves makes it shorter.
 */

/** The id of a filtered list, for its cursors and versions; that of the whole list when nothing is filtered. */
export function toFilteredId(list: string, filter: object): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined);
  if (set.length === 0) return list;
  const text = JSON.stringify(set.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${list}.${hash('sha256', text, 'base64url').slice(0, 20)}`;
}

interface State {
  /** The parameter with its id. */
  readonly list: Expression<string>;
  readonly total: Expression<number>;
  /** The number of its newest item; 0 when there is none. */
  readonly newest: Expression<number>;
  /** Of a list with cursors, the change with which an item of the whole was removed last: older cursors are not good. */
  readonly removed?: Expression<number>;
  /** Distinguishes the number from the same one before a restore. */
  readonly nonce: Expression<unknown>;
}

/** The version of a filtered list, in a query of its head. */
export function versionOf(
  db: Kysely<Tables>,
  { list, total, newest, nonce, removed = sql.lit(0) }: State,
): RawBuilder<string> {
  const id = dialectOf(db).typed(list, 'text');
  const state = sql`case when ${newest} = 0 then '' else coalesce(${nonce}, '') end`;
  const parts = [id, total, newest, removed, state];
  return sql<string>`${sql.join(parts, sql` || '.' || `)}`;
}

/** The nonce of the transaction in which an account's number was taken, in a query. */
export function nonceOf(
  db: Kysely<Tables>,
  accountSeq: Expression<number>,
  number: Expression<number>,
) {
  return db
    .selectFrom('change')
    .select('change.nonce')
    .where('account_seq', '=', accountSeq)
    .where('change.number', '>=', number)
    .orderBy('change.number')
    .limit(1);
}
