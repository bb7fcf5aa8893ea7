import { Failure } from '../failure.ts';

/** Half of libuv's four threads: compression and file reads need the others. */
const MAX_RUNNING = 2;
/** About a third of a second of hashing. */
const MAX_WAITING = 20;

/** Runs a few tasks at a time that each occupy a thread. Throws `unavailable` when too many are waiting. */
export function createQueue(maxRunning = MAX_RUNNING, maxWaiting = MAX_WAITING) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running < maxRunning) running += 1;
    else if (waiting.length >= maxWaiting) throw tooBusy();
    // A task that finishes passes its place to the first one that waits.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

function tooBusy(): Failure {
  return new Failure(
    'unavailable',
    'Too many people are signing in right now. Please try again in a few seconds.',
  );
}
