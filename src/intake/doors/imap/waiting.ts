import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { DoorFault } from './fault.ts';
import type { ImapLimits } from './limits.ts';

interface Given {
  readonly limits: ImapLimits;
  readonly signal: AbortSignal;
  /** Whether the server has told of a mail. */
  readonly isNews: () => boolean;
  /** Whether the outcome of a mail has become known. */
  readonly hasResults: () => Promise<boolean>;
}

/**
 * Waits until there may be something to do: the server tells of a mail, an outcome is known, or it is time to look.
 * Throws when the connection ends.
 */
export async function waitForNews(client: ImapFlow, given: Given): Promise<void> {
  const { limits, signal, isNews, hasResults } = given;
  const canIdle = client.capabilities.has('IDLE');
  const untilMs = performance.now() + (canIdle ? limits.idleMs : limits.pollMs);
  // It lasts until the next command.
  if (canIdle) void client.idle().catch(() => false);
  const ask = toSparingly(hasResults, limits);
  while (performance.now() < untilMs && !isNews() && !signal.aborted) {
    if (!client.usable) throw new DoorFault('The server ended the connection.');
    if (await ask()) return;
    await sleep(limits.resultsMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Asks less and less often while the answer is no, and answers no in between. */
function toSparingly(
  ask: () => Promise<boolean>,
  { resultsMs, maxResultsMs }: ImapLimits,
): () => Promise<boolean> {
  let [askAtMs, pauseMs]: [number, number] = [performance.now(), resultsMs];
  return async () => {
    if (performance.now() < askAtMs) return false;
    const isYes = await ask();
    askAtMs = performance.now() + pauseMs;
    pauseMs = Math.min(maxResultsMs, pauseMs * 2);
    return isYes;
  };
}
