import { setTimeout as sleep } from 'node:timers/promises';
import { isLost } from './errors.ts';

/* The one place that knows what a database that is away for the moment is, and who waits for it. */

/** How long something waits, and who is told of each try that failed. */
export interface Patience {
  readonly forMs: number;
  readonly tell?: ((error: Error, leftMs: number) => void) | undefined;
}

/** No connection is left (53300); a lock was not granted in time; the server is a standby, which may become the primary. */
const STATES = /^(?:53300|55P03|25006)$/;

function isAway(error: unknown): boolean {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  // A certificate that is refused stays so.
  if (/CERT|^ERR_(?:TLS|SSL)/.test(code) || message.includes('SSL')) return false;
  return STATES.test(code) || isLost(error);
}

/** The pauses double, up to this: somebody waits for a page, and each try of a command is a line. */
const [PAGE_PAUSE_MS, TOLD_PAUSE_MS] = [400, 10_000];

/** Runs again what failed because the database is away. It must do no harm twice. */
export async function whileAway<T>(
  run: () => Promise<T>,
  { forMs, tell }: Patience = { forMs: 0 },
): Promise<T> {
  const until = performance.now() + forMs;
  const maxMs = tell ? TOLD_PAUSE_MS : PAGE_PAUSE_MS;
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, maxMs)) {
    try {
      return await run();
    } catch (error) {
      const leftMs = until - performance.now();
      if (!isAway(error) || leftMs < pauseMs) throw error;
      tell?.(error as Error, leftMs);
    }
    await sleep(pauseMs);
  }
}
