import { setTimeout as sleep } from 'node:timers/promises';

/** Something that runs until it is stopped. */
export interface Running {
  /** Begins nothing more, and waits for the current step. */
  readonly stop: () => Promise<void>;
}

/**
 * Takes one step after another. A step returns how long to wait before the next, in milliseconds, and handles its
 * errors itself. Its signal is aborted when it has to stop.
 */
export function keepRunning(step: (signal: AbortSignal) => Promise<number>): Running {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      const waitMs = await step(signal);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
