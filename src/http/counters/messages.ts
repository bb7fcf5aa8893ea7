/*
 * What a worker and the primary process of node:cluster send to each other. A worker sends what it has to count in
 * one turn of the event loop as one message.
 */

export interface Batch {
  readonly type: 'plumbline:count';
  readonly id: number;
  readonly hits: readonly Hit[];
}

/** One hit to add or to subtract. */
export interface Hit {
  readonly limit: string;
  readonly key: string;
  readonly windowMs: number;
  readonly add: 0 | 1;
}

export interface Counted {
  readonly type: 'plumbline:counted';
  readonly id: number;
  /** For each hit in its order: how many there are, and in how many milliseconds the window ends. */
  readonly counts: readonly (readonly [hits: number, endsInMs: number])[];
}

export function isBatch(message: unknown): message is Batch {
  return (message as Batch | null)?.type === 'plumbline:count';
}

export function isCounted(message: unknown): message is Counted {
  return (message as Counted | null)?.type === 'plumbline:counted';
}
