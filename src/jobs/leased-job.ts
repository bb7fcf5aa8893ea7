import { type HeldLease, LEASE_MS, type Leases } from '../store/work/leases.ts';
import { keepRunning, type Running } from '../store/work/running.ts';
import { SHARDS, type Shard, type ShardRun } from '../store/work/shards.ts';

/* Jobs that the processes on one database share: whoever holds the lease does the work. */

/** How often a process looks for work when there was none, or when it failed. */
const POLL_MS = 15_000;
/** Three renewals may fail before the lease expires. */
const RENEW_MS = LEASE_MS / 4;

export interface ShardJob {
  readonly name: string;
  /** Each shard runs once in this time, whichever process does it. */
  readonly everyMs: number;
  /** A process begins one shard in this time at most. */
  readonly paceMs?: number | undefined;
  /** After a start it runs at once, whenever it ran before: what kept it from its work may be mended. */
  readonly isFirstAtOnce?: boolean;
  /** Returns whether it came to the end. Doing it twice does no harm. */
  readonly run: (run: ShardRun) => Promise<boolean>;
}

export interface LeasedDeps {
  readonly leases: Leases;
  readonly logError: (error: unknown, job: string) => unknown;
  /** Is told of a run that came to its end. */
  readonly onWell?: (job: string) => Promise<void>;
  /** Is told how long each run of a job took, when it has ended. */
  readonly observe?: ((job: string, seconds: number) => void) | undefined;
  readonly pollMs?: number;
  readonly renewMs?: number;
}

/** Runs due shards one at a time, in random order, so that processes share them. One that fails is due again. */
export function startShardJob(job: ShardJob, deps: LeasedDeps): Running {
  const shards = new Map(SHARDS.map((shard) => [`${job.name}:${shard.digit}`, shard]));
  return keepClaiming([...shards.keys()], { ...deps, ...job }, (held) =>
    job.run({ ...held, shard: shards.get(held.name) as Shard }),
  );
}

/** The same, for work that is not divided. */
export function startSingleJob(
  job: Pick<ShardJob, 'name' | 'everyMs' | 'isFirstAtOnce'> & {
    readonly run: (mayGoOn: ShardRun['mayGoOn']) => Promise<boolean>;
  },
  deps: LeasedDeps,
): Running {
  return keepClaiming([job.name], { ...deps, ...job }, ({ mayGoOn }) => job.run(mayGoOn));
}

/** One process at a time does the work. A lost lease (process suspended, database away) aborts the work's signal. */
export function startExclusiveJob(
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  deps: LeasedDeps,
): Running {
  const { logError, renewMs = RENEW_MS } = deps;
  return keepClaiming([name], { ...deps, everyMs: 0 }, async ({ signal, mayGoOn }) => {
    const lost = new AbortController();
    // One renewal that fails is not the loss of the lease; the next one may succeed.
    const onError = (error: unknown) => logError(error, name);
    const renew = () => mayGoOn().then((isHeld) => isHeld || lost.abort(), onError);
    const renewing = setInterval(renew, renewMs / 2);
    try {
      await work(AbortSignal.any([signal, lost.signal]));
    } finally {
      clearInterval(renewing);
    }
    return false;
  });
}

/** Claims one lease after another of those that are due, and works while it holds it. */
function keepClaiming(
  names: readonly string[],
  deps: LeasedDeps & Pick<ShardJob, 'everyMs' | 'paceMs' | 'isFirstAtOnce'>,
  work: (held: Pick<HeldLease, 'name'> & Omit<ShardRun, 'shard'>) => Promise<boolean>,
): Running {
  const { leases, logError, onWell, observe, everyMs, paceMs = 0, pollMs = POLL_MS } = deps;
  // A shard of a job counts as the job.
  const job = names[0]?.split(':', 1)[0] as string;
  let { isFirstAtOnce: isAtOnce = false } = deps;
  const workOnce = async (signal: AbortSignal) => {
    const begunAt = performance.now();
    const claim = await leases.claim(names, isAtOnce ? 0 : everyMs);
    if (claim === undefined) return pollMs;
    isAtOnce = false;
    // What is not divided may be dear: when it fails, it waits for its next time.
    let isComplete = names.length === 1 && everyMs > 0;
    try {
      const mayGoOn = createMayGoOn(claim, { ...deps, signal });
      isComplete = await work({ name: claim.name, signal, mayGoOn });
      if (isComplete) await onWell?.(job);
    } finally {
      await leases.release(claim, { isComplete });
      observe?.(job, (performance.now() - begunAt) / 1000);
    }
    return Math.max(0, paceMs - (performance.now() - begunAt));
  };
  return keepRunning(
    (signal) => () =>
      workOnce(signal).catch(async (error: unknown) => {
        await logError(error, job);
        return pollMs;
      }),
  );
}

/**
 * Renews the lease when it is time to: a process suspended for longer than its lease learns it before its next step.
 * @internal Tests call it too.
 */
export function createMayGoOn(
  claim: HeldLease,
  deps: Pick<LeasedDeps, 'leases' | 'renewMs'> & Pick<ShardRun, 'signal'>,
): ShardRun['mayGoOn'] {
  const { leases, signal, renewMs = RENEW_MS } = deps;
  let renewedAt = performance.now();
  let isHeld = true;
  return async () => {
    if (isHeld && !signal.aborted && performance.now() - renewedAt >= renewMs) {
      const before = performance.now();
      isHeld = await leases.renew(claim);
      renewedAt = before;
    }
    return isHeld && !signal.aborted;
  };
}
