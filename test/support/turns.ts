import { SHARDS } from '../../src/store/work/shards.ts';
import type { Turn } from '../../src/store/work/turn.ts';

/** A turn on each shard, which nothing ends, or which ends after some steps of all turns together. */
export function allTurns({ steps = Number.POSITIVE_INFINITY } = {}): readonly Turn[] {
  let left = steps;
  const { signal } = new AbortController();
  return SHARDS.map((shard) => ({ shard, signal, mayGoOn: async () => left-- > 0 }));
}
