import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../tables.ts';

/** A sixteenth of all domains: those whose ids begin with one hexadecimal digit. */
export type Shard = { readonly digit: string };

const DIGITS = '0123456789abcdef';

export const SHARDS: readonly Shard[] = [...DIGITS].map((digit) => ({ digit }));

export interface ShardRun {
  readonly shard: Shard;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Asked before each step: false when the process stops, or when another process has the lease of the shard. */
  readonly mayGoOn: () => Promise<boolean>;
}

export function isInShard(eb: ExpressionBuilder<Tables, 'domain'>, { digit }: Shard) {
  return eb.between(
    'domain.id',
    `${digit}0000000-0000-0000-0000-000000000000`,
    `${digit}fffffff-ffff-ffff-ffff-ffffffffffff`,
  );
}
