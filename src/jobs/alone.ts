import type { Claim, Leases } from '../store/work/leases.ts';
import { RENEW_MS } from '../store/work/turn.ts';
import { keepRunning, type Running } from './running.ts';

interface Given {
  readonly leases: Pick<Leases, 'claim' | 'renew' | 'release'>;
  readonly logError: (error: unknown) => void;
  /** How often a free lease is looked for, and how often the own one is renewed. */
  readonly pollMs?: number;
  readonly renewMs?: number;
}

const POLL_MS = 15_000;

/**
 * Does work that never ends in one process at a time: in the one that holds the lease. When the lease is lost (the
 * process was suspended, or the database was away) the work's signal is aborted.
 */
export function startAlone(
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  given: Given,
): Running {
  const { leases, logError, pollMs = POLL_MS } = given;
  return keepRunning(async (signal) => {
    const claim = await leases.claim(name, 0).catch(logError);
    if (!claim) return pollMs;
    await workClaimed(claim, work, { ...given, signal }).catch(logError);
    return 0;
  });
}

async function workClaimed(
  claim: Claim,
  work: (signal: AbortSignal) => Promise<void>,
  given: Given & { readonly signal: AbortSignal },
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
