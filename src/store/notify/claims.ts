import { sql } from 'kysely';
import type { ChannelName } from '../../domain/events.ts';
import { toInstant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { readClockMs } from '../work/clock.ts';

/*
 * A receiver is claimed, not a delivery: so one process at a time delivers to it, and a receiver that fell behind is one
 * row among those that are due. They take turns: the one that was released first is claimed first.
 */

/** How long a claim lasts. What a process that was killed had claimed waits so long. */
export const CLAIM_MS = 60_000;
/** A receiver that only fails rests for as long as it has failed, at most this long. */
const MAX_REST_MS = 300_000;
/** Waits are that much longer or shorter, so that what failed together is not tried together. */
const SPREAD = 0.2;
/** No claim and no rest is longer. When one ends later, the clock was set back. */
const LATEST_MS = 2 * MAX_REST_MS;
/** No delivery waits longer. */
const LONGEST_MS = 48 * 3_600_000;

/** After the database's clock was set back, deliveries must not wait for the time that it had before. */
export async function correctDue(db: Db): Promise<void> {
  const due_at_ms = await readClockMs(db);
  const late = due_at_ms + LONGEST_MS;
  await db.write(async (tx) => {
    for (const table of ['receiver', 'delivery'] as const)
      await tx.updateTable(table).set({ due_at_ms }).where('due_at_ms', '>', late).execute();
  });
}

export interface ReceiverClaim {
  readonly receiverId: string;
  readonly holder: string;
  readonly nowMs: number;
}

interface Wanted {
  /** Different for each process. */
  readonly holder: string;
  readonly channel: ChannelName;
  readonly limit: number;
  readonly claimMs?: number | undefined;
}

/** Writes nothing when none is due. */
export async function claimReceivers(db: Db, wanted: Wanted): Promise<ReceiverClaim[]> {
  const { holder, channel, limit, claimMs = CLAIM_MS } = wanted;
  const due = await selectDue(db, channel).limit(1).execute();
  if (due.length === 0) return [];
  return await db.write(async (tx) => {
    const nowMs = await readClockMs(tx);
    const query = selectDue(tx, channel).limit(limit).$call(dialectOf(tx).locked);
    const ids = (await query.execute()).map(({ id }) => id);
    if (ids.length === 0) return [];
    const held = { claimed_by: holder, free_at_ms: nowMs + claimMs };
    await tx.updateTable('receiver').set(held).where('id', 'in', ids).execute();
    return ids.map((receiverId) => ({ receiverId, holder, nowMs }));
  });
}

function selectDue(db: Queries, channel: ChannelName) {
  const { clockMs: nowMs } = dialectOf(db);
  return db
    .selectFrom('receiver')
    .select('id')
    .where('due_at_ms', '<=', nowMs)
    .where('enabled', '=', 1)
    .where('channel', '=', channel)
    .where((eb) =>
      eb.or([
        eb('free_at_ms', '<=', nowMs),
        eb('free_at_ms', '>', sql<number>`${nowMs} + ${sql.lit(LATEST_MS)}`),
      ]),
    )
    .orderBy('free_at_ms');
}

export type DueDelivery = Awaited<ReturnType<typeof listDueDeliveries>>[number];

/** The deliveries of a claimed receiver that are due, the first due first. */
export function listDueDeliveries(db: Queries, claim: ReceiverClaim, limit: number) {
  return db
    .selectFrom('delivery')
    .innerJoin('event', 'event.seq', 'delivery.event_seq')
    .select(['event_seq', 'tries', 'id', 'account_id', 'type', 'at', 'data'])
    .where('receiver_id', '=', claim.receiverId)
    .where('due_at_ms', '<=', claim.nowMs)
    .orderBy('due_at_ms')
    .orderBy('event_seq')
    .limit(limit)
    .execute();
}

/** What became of one try. */
export interface DeliveryOutcome {
  /** `failed` is tried again, `refused` never. A `postponed` one was not tried: the channel waits until its time comes. */
  readonly kind: 'delivered' | 'failed' | 'refused' | 'postponed';
  /** When it `failed` or was `postponed`, it is due after this time at the earliest. */
  readonly atLeastMs?: number | undefined;
  readonly tookMs?: number | undefined;
  /** The status of HTTP or SMTP. */
  readonly status?: number | null | undefined;
  /** The beginning of the answer, or why there is none. */
  readonly answer?: string | null | undefined;
}

/**
 * `waitsMs` are the waits after a first failure, a second one, and so on. Changes nothing when another process has tried
 * meanwhile, because this one was suspended for longer than its claim.
 */
export async function recordOutcomes(
  db: Db,
  { receiverId }: ReceiverClaim,
  outcomes: ReadonlyMap<DueDelivery, DeliveryOutcome>,
  waitsMs: readonly number[],
): Promise<void> {
  await db.write(async (tx) => {
    const nowMs = await readClockMs(tx);
    for (const [{ event_seq, tries }, outcome] of outcomes)
      await tx
        .updateTable('delivery')
        .set(toRow(outcome, { nowMs, tries, waitMs: waitsMs[tries] }))
        .where(({ and }) => and({ event_seq, receiver_id: receiverId, tries, state: 'waiting' }))
        .execute();
  });
}

function toRow(
  { kind, atLeastMs = 0, tookMs, status = null, answer = null }: DeliveryOutcome,
  {
    nowMs,
    tries,
    waitMs,
  }: { readonly nowMs: number; readonly tries: number; readonly waitMs: number | undefined },
) {
  if (kind === 'postponed') return { due_at_ms: nowMs + Math.round(atLeastMs) };
  const isAgain = kind === 'failed' && waitMs !== undefined;
  const spread = isAgain ? waitMs * (1 + SPREAD * (2 * Math.random() - 1)) : 0;
  const due_at_ms = isAgain ? nowMs + Math.round(Math.max(spread, atLeastMs)) : null;
  const state = kind === 'delivered' ? kind : isAgain ? ('waiting' as const) : ('failed' as const);
  const tried_at = toInstant(new Date(nowMs));
  const took_ms = tookMs === undefined ? null : Math.round(tookMs);
  return { state, due_at_ms, tries: tries + 1, tried_at, took_ms, status, answer };
}

/**
 * Ends a claim. Returns for how long the receiver has done nothing but fail. An event that is written meanwhile waits for
 * the lock of the receiver's row, or is seen here.
 */
export async function releaseReceiver(
  db: Db,
  claim: ReceiverClaim,
  { delivered, failed }: { readonly delivered: number; readonly failed: number },
): Promise<number> {
  return await db.write(async (tx) => {
    const receiver = await lockClaimed(tx, claim);
    if (receiver === undefined) return 0;
    const nowMs = await readClockMs(tx);
    const since = failed > 0 ? (receiver.failing_since_ms ?? nowMs) : receiver.failing_since_ms;
    const failing_since_ms = delivered > 0 ? null : since;
    const failingMs = failing_since_ms === null || failed === 0 ? 0 : nowMs - failing_since_ms;
    const free_at_ms = nowMs + Math.min(Math.max(failingMs, 0), MAX_REST_MS);
    const waiting = tx
      .selectFrom('delivery')
      .select(({ fn }) => fn.min('due_at_ms').as('first'))
      .where('receiver_id', '=', claim.receiverId)
      .where('due_at_ms', 'is not', null);
    await tx
      .updateTable('receiver')
      .set({ claimed_by: null, free_at_ms, due_at_ms: waiting, failing_since_ms })
      .where('id', '=', claim.receiverId)
      .execute();
    return failingMs;
  });
}

/** undefined when the claim has ended, or the receiver was deleted. */
function lockClaimed(tx: Tx, { receiverId, holder }: ReceiverClaim) {
  return tx
    .selectFrom('receiver')
    .select('failing_since_ms')
    .where(({ and }) => and({ id: receiverId, claimed_by: holder }))
    .$call(dialectOf(tx).locked)
    .executeTakeFirst();
}
