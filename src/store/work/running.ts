import { setTimeout as sleep } from 'node:timers/promises';

export interface Running {
  /** Begins nothing more, and waits for the current step. */
  readonly stop: () => Promise<void>;
}

/**
 * Repeats a step, which gets a signal that is aborted on stop. A step returns the wait before the next in milliseconds, and
 * handles its errors.
 */
export function keepRunning(toStep: (signal: AbortSignal) => () => Promise<number>): Running {
  const stopping = new AbortController();
  const { signal } = stopping;
  const step = toStep(signal);
  const running = (async () => {
    while (!signal.aborted) {
      const waitMs = await step();
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
