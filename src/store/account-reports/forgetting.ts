import { sql } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { accountReportList } from '../lists/timeline.ts';

/** Of each table, in one transaction. */
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * Rows before the beginning of an account's list, which nobody reads. What is left when this is interrupted goes
 * with the next that goes.
 */
export async function forgetRows(db: Db, accountId: string): Promise<void> {
  while (await db.write((tx) => forgetSome(tx, accountId)));
}

/** Returns whether some may be left. */
export async function forgetSome(tx: Tx, accountId: string): Promise<boolean> {
  const listId = accountReportList(accountId);
  const account = sql`from account where id = ${accountId}`;
  let isMore = false;
  for (const [table, column, owner] of [
    ['account_arrival', 'account_seq', sql`(select seq ${account})`],
    ['list_gap', 'list_id', listId],
    ['list_point', 'list_id', listId],
  ] as const) {
    const before = sql`${sql.ref(column)} = ${owner} and position < (select reports_begin ${account})`;
    const some = sql`select position from ${sql.table(table)} where ${before}
      order by position limit ${FORGOTTEN_AT_ONCE}`;
    const { numAffectedRows } = await sql`delete from ${sql.table(table)}
      where ${before} and position in (${some})`.execute(tx);
    isMore ||= Number(numAffectedRows) === FORGOTTEN_AT_ONCE;
  }
  return isMore;
}
