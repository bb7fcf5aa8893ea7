import type { ChannelName } from '../domain/events.ts';
import type { Answer, DueDelivery } from '../store/notify/claims.ts';

/** What became of one try. */
export interface Outcome extends Answer {
  /**
   * `failed` is tried again, `refused` never. A `postponed` one was not tried: the channel waits until its time comes.
   */
  readonly kind: 'delivered' | 'failed' | 'refused' | 'postponed';
  /** Of `failed` and `postponed`: it is due after this time at the earliest. */
  readonly atLeastMs?: number | undefined;
}

export interface Batch {
  readonly receiverId: string;
  /** At least one: those of the receiver that are due, the first due first. */
  readonly deliveries: readonly DueDelivery[];
  /** Aborted when the claim is about to end. */
  readonly signal: AbortSignal;
  /** To be called as soon as an outcome is known: what is not recorded is delivered again. */
  readonly record: (outcomes: ReadonlyMap<DueDelivery, Outcome>) => Promise<void>;
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
