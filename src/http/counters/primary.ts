import type { Worker } from 'node:cluster';
import { Counts } from './counts.ts';
import { type Counted, type Hit, isBatch } from './messages.ts';

/** A process is the primary of one cluster, whose workers share these. */
const limits = new Map<string, Counts>();

/** Counts for a worker, in the primary process: all workers together have each limit once. */
export function serveCounters(worker: Pick<Worker, 'on' | 'send'>): void {
  worker.on('message', (message: unknown) => {
    if (!isBatch(message)) return;
    const { id, hits } = message;
    const answer: Counted = { type: 'plumbline:counted', id, counts: hits.map(count) };
    // With a callback, a worker that has ended meanwhile is no error.
    worker.send(answer, () => {});
  });
}

function count({ limit, key, windowMs, add }: Hit): readonly [number, number] {
  const counts = limits.get(limit) ?? new Counts(windowMs);
  limits.set(limit, counts);
  if (add === 0) {
    counts.subtract(key);
    return [0, 0];
  }
  const { totalHits, resetTime } = counts.add(key);
  return [totalHits, (resetTime?.getTime() ?? 0) - Date.now()];
}
