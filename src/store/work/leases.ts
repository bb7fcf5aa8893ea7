import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';
import { readClockMs } from './clock.ts';

/** How long a lease lasts without renewal. A killed process delays its work by this much. */
export const LEASE_MS = 45_000;

const COLUMNS = ['name', 'holder', 'expires_at', 'ran_at'] as const;

/** A share of the work, which this process alone does until the lease is released or expires. */
export type HeldLease = { readonly name: string; readonly claimedAt: Instant };

export type Leases = ReturnType<typeof createLeases>;

/**
 * All times are those of the database's clock. Work must do no harm when done twice: a lease that has ended does not
 * stop its former holder from writing.
 */
export function createLeases({
  db,
  holder,
  readClock = readClockMs,
}: {
  readonly db: Db;
  /** Different for each process. */
  readonly holder: string;
  readonly readClock?: typeof readClockMs;
}) {
  const toExpiry = (nowMs: number) => toInstant(new Date(nowMs + LEASE_MS));
  const listDue = async (names: readonly string[], everyMs: number) => {
    const rows = await db.selectFrom('lease').select(COLUMNS).where('name', 'in', names).execute();
    const nowMs = await readClock(db);
    const taken = rows.filter((row) => !isFreeAndDue(row, { nowMs, everyMs }));
    return [...new Set(names).difference(new Set(taken.map(({ name }) => name)))];
  };
  const claimOne = (name: string, everyMs: number): Promise<HeldLease | undefined> =>
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
        .$call(dialectOf(tx).locked)
        .executeTakeFirstOrThrow();
      const nowMs = await readClock(tx);
      if (!isFreeAndDue(row, { nowMs, everyMs })) return undefined;
      const held = { holder, expires_at: toExpiry(nowMs) };
      await tx.updateTable('lease').set(held).where('name', '=', name).execute();
      return { name, claimedAt: toInstant(new Date(nowMs)) };
    });
  return {
    /**
     * Takes a lease at random from those that nobody holds and whose work did not run in the last `everyMs`. undefined
     * when there is none; then nothing was written.
     */
    claim: async (names: readonly string[], everyMs: number): Promise<HeldLease | undefined> => {
      for (const name of rotate(await listDue(names, everyMs))) {
        // undefined when another process has taken it since.
        const claim = await claimOne(name, everyMs);
        if (claim !== undefined) return claim;
      }
      return undefined;
    },
    /** Extends the lease; false when it expired and another process has taken it. */
    renew: ({ name }: HeldLease): Promise<boolean> =>
      db.write(async (tx) => {
        const expires_at = toExpiry(await readClock(tx));
        const { numUpdatedRows } = await tx
          .updateTable('lease')
          .set({ expires_at })
          .where(({ and }) => and({ name, holder }))
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    /** Gives the lease up. Work that is not complete is due again at once. */
    release: async ({ name, claimedAt }: HeldLease, { isComplete }: { isComplete: boolean }) => {
      const ran = isComplete ? { ran_at: claimedAt } : {};
      await db.write((tx) =>
        tx
          .updateTable('lease')
          .set({ holder: null, expires_at: null, ...ran })
          .where(({ and }) => and({ name, holder }))
          .execute(),
      );
    },
  };
}

/**
 * No lease is longer than LEASE_MS. One that ends much later was given before the database's clock was set back, and
 * is free. Twice as long is allowed, because a transaction may have waited since it read the clock. Work that ran in
 * the future ran before the clock was set back, and is due.
 */
function isFreeAndDue(
  { expires_at, ran_at }: Tables['lease'],
  { nowMs, everyMs }: { readonly nowMs: number; readonly everyMs: number },
): boolean {
  const leftMs = expires_at === null ? 0 : Date.parse(expires_at) - nowMs;
  const isFree = leftMs <= 0 || leftMs > 2 * LEASE_MS;
  const sinceMs = ran_at === null ? everyMs : nowMs - Date.parse(ran_at);
  return isFree && (sinceMs >= everyMs || sinceMs < -LEASE_MS);
}

/** Begins with any of the items, so that processes do not all try the same one, and none is left out for ever. */
export function rotate<T>(items: readonly T[], random = Math.random): readonly T[] {
  const first = Math.floor(random() * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
