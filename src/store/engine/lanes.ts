import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { Failure } from '../../domain/failure.ts';

const BUSY = 'Too many reads are waiting. Try again in a moment.';

/** Runs so much at once of what has one name. What has waited for too long is refused. */
export type Lanes = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export function createLanes(most: number, waitMs: number): Lanes {
  const lanes = new LRUCache<string, LimitFunction>({ max: 500, memoMethod: () => pLimit(most) });
  return (name, run) => {
    const until = performance.now() + waitMs;
    return lanes.memo(name)(() => {
      if (performance.now() > until) throw new Failure('unavailable', BUSY);
      return run();
    });
  };
}
