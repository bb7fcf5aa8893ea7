import type { Logger } from 'pino';
import type { Counters } from './counters.ts';
import { FallbackStore } from './fallback-store.ts';
import { Patience } from './patience.ts';
import { type Channel, PrimaryLink } from './primary-link.ts';

/** Two seconds: a primary that is alive only counts and passes on connections. */
const REQUEST_TICKS = 200;

/** Counts in the primary process, which calls `serveCounters`. For a worker of node:cluster. */
export function countInPrimary(log: Logger, channel = process as unknown as Channel): Counters {
  const patience = new Patience(REQUEST_TICKS);
  const link = new PrimaryLink(channel, { log, patience });
  return {
    createStore: (limit) => new FallbackStore(limit, link),
    bound: (listener) => patience.bound(listener),
    details: () => ({}),
    close: () => link.close(),
  };
}
