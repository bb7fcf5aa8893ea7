import type { RequestListener } from 'node:http';
import type { Store } from 'express-rate-limit';

/** Counts requests for several processes. Without it, each limit counts in the memory of its process. */
export interface Counters {
  /** The counts of one limit, under a name of its own. */
  readonly createStore: (limit: string) => Store;
  /** Bounds how long all counts of one request together may delay its answer. */
  readonly bound: (listener: RequestListener) => RequestListener;
  /** What `/readyz` says about the counts. */
  readonly details: () => Readonly<Record<string, string>>;
  readonly close: () => void;
}
