import { SHARDS, type ShardRun } from '../../src/store/work/shards.ts';

/** A run of each shard, which nothing ends, or which ends after some steps of all runs together. */
export function allShardRuns({ steps = Number.POSITIVE_INFINITY } = {}): readonly ShardRun[] {
  let left = steps;
  const { signal } = new AbortController();
  return SHARDS.map((shard) => ({ shard, signal, mayGoOn: async () => left-- > 0 }));
}
