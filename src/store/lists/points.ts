import { randomBytes, randomInt } from 'node:crypto';
import type { Point } from '../../domain/cursor.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { runAllPrepared } from '../engine/prepared.ts';

/*
 * The order in which a list changes, for clients that follow it. Each change has a position, counted from 1 in the
 * row that owns the list. A transaction holds that row while it gives positions, so they become visible in their
 * order (decision 58). A change that moves or removes an item leaves a gap. Each transaction has a random nonce, which
 * distinguishes it from a transaction with the same positions after a restore from a backup. A report has the nonce of
 * the transaction that gave its position; for alerts, a transaction adds a point: its last position and its nonce.
 */

export function newNonce(): string {
  return randomBytes(6).toString('base64url');
}

/** Adds a point to a list. The row that owns the list has the same position and nonce. */
export async function insertPoint(tx: Tx, listId: string, point: Point): Promise<void> {
  await runAllPrepared(tx, pointInserts([{ listId, ...point }]));
}

type NewPoint = { readonly listId: string; readonly position: number; readonly nonce: string };

export const pointInserts = prepareRows<NewPoint, never>(
  ['listId', 'position', 'nonce'],
  (db, rows) =>
    db
      .insertInto('list_point')
      .values(rows.map(({ listId, position, nonce }) => ({ list_id: listId, position, nonce }))),
);

/**
 * A list begins after a position: gaps and points of before would take space for ever. Who has a cursor of before is told
 * to begin anew. Returns the nonce of the position.
 */
export async function beginAfter(tx: Tx, listId: string, position: number): Promise<string> {
  for (const table of ['list_gap', 'list_point'] as const)
    await tx
      .deleteFrom(table)
      .where('list_id', '=', listId)
      .where('position', '<=', position)
      .execute();
  const nonce = newNonce();
  await insertPoint(tx, listId, { position, nonce });
  return nonce;
}

/** Notes that a list has no items at some positions any more. */
export async function insertGaps(
  tx: Tx,
  list_id: string,
  positions: readonly number[],
): Promise<void> {
  const gaps = positions.map((position) => ({ list_id, position, nonce: newGapNonce() }));
  await tx.insertInto('list_gap').values(gaps).execute();
}

/** A removed item has no later position that would tell followers of it: they begin again (decision 58). */
export const newGeneration = newGapNonce;

/** For a change without a position. The sum of these numbers behind a point distinguishes two states of the list. */
export function newGapNonce(): number {
  return randomInt(1, 2 ** 31);
}
