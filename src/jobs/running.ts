import { setTimeout as sleep } from 'node:timers/promises';

export interface Running {
  /** Begins nothing more, and waits for the current step. */
  readonly stop: () => Promise<void>;
}

/** A step returns the wait before the next in milliseconds, and handles its errors. Its signal is aborted on stop. */
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
