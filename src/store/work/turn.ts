import { type Claim, LEASE_MS, type Leases } from './leases.ts';
import type { Shard } from './shards.ts';

/** Three renewals may fail before the lease expires. */
export const RENEW_MS = LEASE_MS / 4;

/** One shard of a job, which this process does now. */
export interface Turn {
  readonly shard: Shard;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /**
   * Asked before each step: false when the process stops, or when the lease is another's. Renews the lease when
   * it is time to, so a process that was suspended for longer than its lease learns it before its next step.
   */
  readonly mayGoOn: () => Promise<boolean>;
}

interface Given {
  readonly leases: Leases;
  readonly shard: Shard;
  readonly signal: AbortSignal;
  readonly renewMs?: number;
}

export function createTurn(
  claim: Claim,
  { leases, shard, signal, renewMs = RENEW_MS }: Given,
): Turn {
  let renewedAt = readTimes();
  let isHeld = true;
  const renew = async () => {
    const before = readTimes();
    isHeld = await leases.renew(claim);
    renewedAt = before;
  };
  const mayGoOn = async () => {
    if (isHeld && !signal.aborted && sinceMs(renewedAt) >= renewMs) await renew();
    return isHeld && !signal.aborted;
  };
  return { shard, signal, mayGoOn };
}

/** One clock stands still while the machine sleeps, and the other can be set. */
function readTimes() {
  return [performance.now(), Date.now()] as const;
}

function sinceMs([steady, wall]: ReturnType<typeof readTimes>): number {
  const [steadyNow, wallNow] = readTimes();
  return Math.max(steadyNow - steady, wallNow - wall);
}
