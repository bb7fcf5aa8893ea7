import type { ChannelName } from '../domain/events.ts';
import type { DueDelivery, Outcome } from '../store/notify/claims.ts';

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
