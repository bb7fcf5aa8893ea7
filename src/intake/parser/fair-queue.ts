import { Failure } from '../../domain/failure.ts';

const MAX_WAITING = 16;
const MAX_OF_PERSON = 4;
/** A page that waits longer is answered with the request to try again. */
const MAX_WAIT_MS = 5_000;

/** Runs tasks one by one. Throws `unavailable` when too many wait, in all or of one person, or one too long. */
export function createFairQueue(maxWaitMs = MAX_WAIT_MS) {
  const waiting: (() => void)[] = [];
  const counts = new Map<string, number>();
  let isTaken = false;

  async function runNext<T>(work: () => Promise<T>): Promise<T> {
    if (isTaken) await waitInLine(waiting, maxWaitMs);
    else isTaken = true;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next();
    }
  }

  return async function take<T>(personId: string, work: () => Promise<T>): Promise<T> {
    const count = counts.get(personId) ?? 0;
    if (count >= MAX_OF_PERSON || waiting.length >= MAX_WAITING) throw tooBusy();
    counts.set(personId, count + 1);
    try {
      return await runNext(work);
    } finally {
      const left = (counts.get(personId) ?? 1) - 1;
      if (left === 0) counts.delete(personId);
      else counts.set(personId, left);
    }
  };
}

async function waitInLine(waiting: (() => void)[], maxWaitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  waiting.push(resolve);
  const timer = setTimeout(() => {
    waiting.splice(waiting.indexOf(resolve), 1);
    reject(tooBusy());
  }, maxWaitMs);
  await promise.finally(() => clearTimeout(timer));
}

function tooBusy(): Failure {
  return new Failure(
    'unavailable',
    'Other reports are being read right now. Please try again in a few seconds.',
  );
}
