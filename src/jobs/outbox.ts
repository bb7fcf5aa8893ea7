import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';
import { type Channel, createOutbox } from '../notify/outbox.ts';
import type { Store } from '../store/engine/store.ts';
import { keepRunning, type Running } from '../store/work/running.ts';
import { createNoteRun } from './faults.ts';

/** The rest after a fault of our own, such as a database that is away. */
const REST_MS = 10_000;

export interface OutboxDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
}

/**
 * Delivers by a channel that the first step opens; while nobody can be told, there is none. A delivery that was begun is
 * finished and recorded before the process ends: else it would be made again.
 */
export function startOutbox(
  job: 'outbox' | 'mail',
  open: () => Promise<Channel | undefined>,
  deps: OutboxDeps,
): Running {
  const { store, log, metrics } = deps;
  const noteRun = createNoteRun(store.db, log);
  const logError = (error: unknown) => log.error({ err: error }, 'deliveries failed');
  const start = async () => {
    const channel = await open();
    if (channel === undefined) return undefined;
    const given = { db: store.db, channel, logError, observe: metrics?.observeDelivery };
    return { ...createOutbox(given), close: channel.close };
  };
  let outbox: Awaited<ReturnType<typeof start>> | undefined;
  const loop = keepRunning((signal) => async () => {
    try {
      outbox ??= await start();
      await outbox?.step(signal);
      await noteRun(job);
      return outbox === undefined ? REST_MS : 0;
    } catch (error) {
      await noteRun(job, error);
      return REST_MS;
    }
  });
  return {
    stop: async () => {
      await loop.stop();
      await outbox?.settle();
      outbox?.close?.();
    },
  };
}
