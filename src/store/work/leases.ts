import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Store } from '../engine/open.ts';
import { wordsOf } from '../engine/words.ts';
import type { LeaseTable } from '../tables.ts';
import { type ReadClock, readClockMs } from './clock.ts';

/** How long a lease lasts that is not renewed. A process that was killed delays its work by this much. */
export const LEASE_MS = 45_000;

const COLUMNS = ['name', 'holder', 'expires_at', 'ran_at'] as const;

/** A share of the work, which this process alone does until the lease is released or expires. */
export interface Claim {
  readonly name: string;
  readonly claimedAt: Instant;
}

export interface Leases {
  /** Those of the names that nobody holds and that did not run in the last `everyMs`. Only reads. */
  listDue(names: readonly string[], everyMs: number): Promise<string[]>;
  /** Takes the lease; undefined when another process has it or has done the work meanwhile. */
  claim(name: string, everyMs: number): Promise<Claim | undefined>;
  /** Extends the lease; false when it expired and another process has taken it. */
  renew(claim: Claim): Promise<boolean>;
  /** Gives the lease up. Work that is not complete is due again at once. */
  release(claim: Claim, done: { readonly isComplete: boolean }): Promise<void>;
}

interface Given {
  readonly store: Pick<Store, 'db'>;
  /** Different for each process. */
  readonly holder: string;
  readonly readClock?: ReadClock;
}

/**
 * Leases on shares of work. All times are those of the database's clock. A lease does not stop its former holder
 * from writing, so the work has to be such that doing it twice does no harm.
 */
export function createLeases({ store, holder, readClock = readClockMs }: Given): Leases {
  const { db } = store;
  const toExpiry = (nowMs: number) => toInstant(new Date(nowMs + LEASE_MS));
  return {
    listDue: async (names, everyMs) => {
      const rows = await db
        .selectFrom('lease')
        .select(COLUMNS)
        .where('name', 'in', names)
        .execute();
      const nowMs = await readClock(db);
      const taken = rows.filter((row) => !isFree(row, nowMs) || !isDue(row, { nowMs, everyMs }));
      const takenNames = new Set(taken.map(({ name }) => name));
      return names.filter((name) => !takenNames.has(name));
    },
    claim: (name, everyMs) =>
      db.write(async (tx) => {
        await tx
          .insertInto('lease')
          .values({ name })
          .onConflict((oc) => oc.column('name').doNothing())
          .execute();
        const row = await tx
          .selectFrom('lease')
          .select(COLUMNS)
          .where('name', '=', name)
          .$call(wordsOf(tx).locked)
          .executeTakeFirstOrThrow();
        const nowMs = await readClock(tx);
        if (!isFree(row, nowMs) || !isDue(row, { nowMs, everyMs })) return undefined;
        const held = { holder, expires_at: toExpiry(nowMs) };
        await tx.updateTable('lease').set(held).where('name', '=', name).execute();
        return { name, claimedAt: toInstant(new Date(nowMs)) };
      }),
    renew: ({ name }) =>
      db.write(async (tx) => {
        const expires_at = toExpiry(await readClock(tx));
        const row = await tx
          .updateTable('lease')
          .set({ expires_at })
          .where('name', '=', name)
          .where('holder', '=', holder)
          .returning('name')
          .executeTakeFirst();
        return row !== undefined;
      }),
    release: async ({ name, claimedAt }, { isComplete }) => {
      const ran = isComplete ? { ran_at: claimedAt } : {};
      await db.write((tx) =>
        tx
          .updateTable('lease')
          .set({ holder: null, expires_at: null, ...ran })
          .where('name', '=', name)
          .where('holder', '=', holder)
          .execute(),
      );
    },
  };
}

/**
 * No lease is longer than LEASE_MS. One that ends much later was given before the database's clock was set
 * back, and must not stop the work until then. Twice as long is allowed, because a transaction may have waited
 * since it read the clock.
 */
function isFree({ expires_at }: LeaseTable, nowMs: number): boolean {
  if (expires_at === null) return true;
  const leftMs = Date.parse(expires_at) - nowMs;
  return leftMs <= 0 || leftMs > 2 * LEASE_MS;
}

/** Work that ran in the future ran before the clock was set back, and is due. */
function isDue(
  { ran_at }: LeaseTable,
  { nowMs, everyMs }: { readonly nowMs: number; readonly everyMs: number },
): boolean {
  if (ran_at === null) return true;
  const sinceMs = nowMs - Date.parse(ran_at);
  return sinceMs >= everyMs || sinceMs < -LEASE_MS;
}
