import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, toReader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { newGeneration } from '../lists/points.ts';

/*
 * A list may have a million items, so they are counted without a lock, and what was counted is written when the owner of
 * the list has not changed since; else it is counted again.
 */

/** What has lists: a row of an account or of a domain. */
export interface Owner {
  readonly table: 'account' | 'domain';
  readonly id: string;
  /** For messages. */
  readonly of: string;
}

export type Mending = Pick<Store, 'db' | 'reader'>;

const ROWS_AT_ONCE = 500;
/** Of a list that keeps changing, and of one with so many wrong rows, some stay wrong. */
const MAX_STEPS = 100;

interface Change<Row, Found> {
  /** What must not have changed when `write` runs, besides the versions of the owner's lists. */
  readonly state: BoundQuery<Row>;
  readonly find: (rows: readonly Row[]) => Plan<Found[]>;
  readonly write: (tx: Tx, found: readonly Found[]) => Promise<void>;
}

/** Until nothing is found any more. Returns whether something was. */
export async function change<Row, Found>(
  { db, reader }: Mending,
  owner: Owner,
  { state, find, write }: Change<Row, Found>,
): Promise<boolean> {
  const readState = function* (): Plan<[string, readonly Row[]]> {
    const versions = yield* ask(versionsOf[owner.table]({ id: owner.id }));
    const rows = yield* ask(state);
    return [JSON.stringify([versions, rows]), rows];
  };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const { before, found } = await reader.readPlan(function* () {
      const [text, rows] = yield* readState();
      return { before: text, found: yield* find(rows) };
    });
    if (found.length === 0) return step > 0;
    await db.write(async (tx) => {
      await lockOwner(tx, owner);
      const [now] = await toReader(tx).readPlan(readState);
      if (now !== before) return;
      await write(tx, found.slice(0, ROWS_AT_ONCE));
      await touchOwner(tx, owner);
    });
  }
  return true;
}

const versionsOf = {
  domain: prepareQuery<{ id: string }, object>((db, param) =>
    db
      .selectFrom('domain')
      .select(['reports_version', 'alerts_version'])
      .where('id', '=', param('id')),
  ),
  account: prepareQuery<{ id: string }, object>((db, param) =>
    db
      .selectFrom('account')
      .select(['domains_version', 'reports_version', 'alerts_version'])
      .where('id', '=', param('id')),
  ),
};

export async function lockOwner(tx: Tx, { table, id }: Owner): Promise<void> {
  await tx
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .$call(dialectOf(tx).locked)
    .execute();
}

/** Kept pages are wrong, and so may cursors be: who follows a list begins again. */
export async function touchOwner(tx: Tx, { table, id }: Owner): Promise<void> {
  const alerts = { alerts_version: newVersion(), alerts_generation: newGeneration() };
  if (table === 'account') {
    await tx.updateTable('account').set(alerts).where('id', '=', id).execute();
    await touchDomainList(tx, id);
    return;
  }
  const { account_id, status } = await tx
    .updateTable('domain')
    .set({ ...alerts, reports_version: newVersion(), reports_generation: newGeneration() })
    .where('id', '=', id)
    .returning(['account_id', 'status'])
    .executeTakeFirstOrThrow();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}
