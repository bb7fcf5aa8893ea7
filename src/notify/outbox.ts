import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelName } from '../domain/events.ts';
import type { Db } from '../store/engine/database.ts';
import { writeDeliveries } from '../store/events/events.ts';
import {
  CLAIM_MS,
  claimReceivers,
  type DeliveryOutcome,
  type DueDelivery,
  listDueDeliveries,
  type ReceiverClaim,
  recordOutcomes,
  releaseReceiver,
} from '../store/notify/claims.ts';

export interface Batch {
  readonly receiverId: string;
  /** What the receiver is due to get, the first due first; at least one. */
  readonly deliveries: readonly DueDelivery[];
  /** Aborted when the claim is about to end. */
  readonly signal: AbortSignal;
  /** To be called as soon as an outcome is known: what is not recorded is delivered again. */
  readonly record: (outcomes: ReadonlyMap<DueDelivery, DeliveryOutcome>) => Promise<void>;
}

/** A way to tell receivers of events. */
export interface Channel {
  readonly name: ChannelName;
  /** How many deliveries of one receiver a batch has at most. */
  readonly atOnce: number;
  /** The waits after a first try that failed, a second one, and so on; the try after the last is the last one. */
  readonly waitsMs: readonly number[];
  readonly deliver: (batch: Batch) => Promise<void>;
  /** Told after a batch with failures for how long the receiver has done nothing but fail. */
  readonly onFailing?: (receiverId: string, failingMs: number) => Promise<void>;
  /** Called when nothing more is delivered. */
  readonly close?: () => void;
}

/** How many receivers one process delivers to at the same time. */
const MAX_RECEIVERS = 32;
const POLL_MS = 1_000;
/** A batch ends well before its claim: after this part of it. */
const BATCH_PART = 0.5;

interface OutboxDeps {
  readonly db: Db;
  readonly channel: Channel;
  readonly logError: (error: unknown) => void;
  /** Is told of each try when it is recorded. */
  readonly observe?:
    | ((channel: Channel['name'], outcome: DeliveryOutcome['kind']) => void)
    | undefined;
  readonly pollMs?: number;
  readonly claimMs?: number;
}

/** Delivers what is due to receivers. Any number of processes can share one database. */
export function createOutbox(deps: OutboxDeps) {
  const { db, channel, logError, pollMs = POLL_MS, claimMs = CLAIM_MS } = deps;
  const holder = randomUUID();
  const running = new Set<Promise<void>>();
  const begin = (claim: ReceiverClaim) => {
    const delivering = deliverTo(deps, { ...claim, claimMs })
      .catch(logError)
      .finally(() => running.delete(delivering));
    running.add(delivering);
  };
  /**
   * Writes deliveries of new events, begins those to receivers that are due, and waits until one ends or more can be due.
   * Throws a fault of our own.
   */
  const step = async (signal: AbortSignal) => {
    await writeDeliveries(db, signal);
    const limit = MAX_RECEIVERS - running.size;
    const wanted = { holder, claimMs, channel: channel.name, limit };
    for (const claim of limit > 0 ? await claimReceivers(db, wanted) : []) begin(claim);
    const polled = sleep(pollMs, undefined, { signal }).catch(() => undefined);
    await Promise.race([polled, ...running]);
  };
  return {
    step,
    /** Waits for the deliveries that were begun. */
    settle: async () => {
      await Promise.all(running);
    },
  };
}

/** One batch: a receiver that has more is claimed again after others that are due. */
async function deliverTo(
  { db, channel, observe }: Pick<OutboxDeps, 'db' | 'channel' | 'observe'>,
  claim: ReceiverClaim & { readonly claimMs: number },
): Promise<void> {
  const { receiverId } = claim;
  const counts = { delivered: 0, failed: 0 };
  const record = async (outcomes: ReadonlyMap<DueDelivery, DeliveryOutcome>) => {
    for (const { kind } of outcomes.values())
      if (kind !== 'postponed') counts[kind === 'delivered' ? 'delivered' : 'failed'] += 1;
    await recordOutcomes(db, claim, outcomes, channel.waitsMs);
    for (const { kind } of outcomes.values()) observe?.(channel.name, kind);
  };
  const deliveries = await listDueDeliveries(db, claim, channel.atOnce);
  if (deliveries.length > 0) {
    const signal = AbortSignal.timeout(claim.claimMs * BATCH_PART);
    await channel.deliver({ receiverId, deliveries, signal, record });
  }
  const failingMs = await releaseReceiver(db, claim, counts);
  if (failingMs > 0) await channel.onFailing?.(receiverId, failingMs);
}
