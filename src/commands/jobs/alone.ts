import { setTimeout as sleep } from 'node:timers/promises';

/** What is needed of `store/work/leases.ts`. */
export interface Leases<Claim> {
  readonly claim: (name: string, everyMs: number) => Promise<Claim | undefined>;
  readonly renew: (claim: Claim) => Promise<boolean>;
  readonly release: (claim: Claim, done: { readonly isComplete: boolean }) => Promise<void>;
}

interface Given<Claim> {
  readonly leases: Leases<Claim>;
  readonly logError: (error: unknown) => void;
  /** How often a free lease is looked for, and how often the own one is renewed. */
  readonly pollMs?: number;
  readonly renewMs?: number;
}

const POLL_MS = 15_000;
/** Three renewals may fail before the lease expires. */
const RENEW_MS = 11_000;

/**
 * Does work that never ends in one process at a time: in the one that holds the lease. When the lease is lost (the
 * process was suspended, or the database was away) the work's signal is aborted.
 */
export function startAlone<Claim>(
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  given: Given<Claim>,
): { readonly stop: () => Promise<void> } {
  const { leases, logError, pollMs = POLL_MS } = given;
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      const claim = await leases.claim(name, 0).catch(logError);
      if (claim) await workClaimed(claim, work, { ...given, signal }).catch(logError);
      else await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function workClaimed<Claim>(
  claim: Claim,
  work: (signal: AbortSignal) => Promise<void>,
  given: Given<Claim> & { readonly signal: AbortSignal },
): Promise<void> {
  const { leases, logError, renewMs = RENEW_MS, signal } = given;
  const lost = new AbortController();
  const renewing = setInterval(() => {
    // One renewal that fails is not the loss of the lease; the next one may succeed.
    leases.renew(claim).then((isHeld) => isHeld || lost.abort(), logError);
  }, renewMs);
  try {
    await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewing);
    await leases.release(claim, { isComplete: false });
  }
}
