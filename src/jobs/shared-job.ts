import { randomInt } from 'node:crypto';
import type { Claim, Leases } from '../store/work/leases.ts';
import { SHARDS } from '../store/work/shards.ts';
import { createTurn, type Turn } from '../store/work/turn.ts';
import { keepRunning, type Running } from './running.ts';

/** How often a process looks for work when there was none, or when it failed. */
const POLL_MS = 15_000;

/** Work on all domains at regular intervals, which the processes on one database share. */
export interface SharedJob {
  readonly name: string;
  /** Each shard runs once in this time, whichever process does it. */
  readonly everyMs: number;
  /** A process begins one shard in this time at most. */
  readonly paceMs?: number;
  /** Returns whether it came to the end. Doing it twice does no harm. */
  readonly run: (turn: Turn) => Promise<boolean>;
}

interface Given {
  readonly leases: Leases;
  readonly logError: (error: unknown) => void;
  readonly pollMs?: number;
}

/**
 * Runs the shards of a job that are due, one at a time and in random order, so that another process can take
 * the next one. A shard that fails is logged, and is due again; the others have their turn in between.
 */
export function startSharedJob(job: SharedJob, given: Given): Running {
  const { logError, pollMs = POLL_MS } = given;
  return keepRunning((signal) =>
    runNext(job, { ...given, pollMs, signal }).catch((error: unknown) => {
      logError(error);
      return pollMs;
    }),
  );
}

interface Next extends Given {
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/** Runs one shard when one is due. Returns how long to wait before the next, in milliseconds. */
async function runNext(job: SharedJob, { leases, pollMs, signal }: Next): Promise<number> {
  const { everyMs, paceMs = 0 } = job;
  const toName = (digit: string) => `${job.name}:${digit}`;
  const names = SHARDS.map(({ digit }) => toName(digit));
  const due = new Set(await leases.listDue(names, everyMs));
  const shards = SHARDS.filter(({ digit }) => due.has(toName(digit)));
  const shard = shards[randomInt(Math.max(1, shards.length))];
  if (shard === undefined) return pollMs;
  const begunAt = performance.now();
  const claim = await leases.claim(toName(shard.digit), everyMs);
  if (claim === undefined) return 0;
  await runClaimed(job, claim, { leases, turn: createTurn(claim, { leases, shard, signal }) });
  return Math.max(0, paceMs - (performance.now() - begunAt));
}

async function runClaimed(
  job: SharedJob,
  claim: Claim,
  { leases, turn }: { readonly leases: Leases; readonly turn: Turn },
): Promise<void> {
  let isComplete = false;
  try {
    isComplete = await job.run(turn);
  } finally {
    await leases.release(claim, { isComplete });
  }
}
