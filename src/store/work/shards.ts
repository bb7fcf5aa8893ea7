import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { Tables } from '../tables.ts';

/** A sixteenth of all domains: those whose ids begin with one hexadecimal digit. */
export interface Shard {
  readonly digit: string;
}

const DIGITS = '0123456789abcdef';

export const SHARDS: readonly Shard[] = [...DIGITS].map((digit) => ({ digit }));

/** A job's work on one shard. */
export interface ShardRun {
  readonly shard: Shard;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Asked before each step: false when the process stops, or when another process has the lease of the shard. */
  readonly mayGoOn: () => Promise<boolean>;
}

/** The first shard has no lower bound and the last no upper bound, so an id of any form is in one of them. */
export function isInShard(
  eb: ExpressionBuilder<Tables, 'domain'>,
  { digit }: Shard,
): ExpressionWrapper<Tables, 'domain', SqlBool> {
  const after = DIGITS[DIGITS.indexOf(digit) + 1];
  return eb.and([
    ...(digit === DIGITS[0] ? [] : [eb('domain.id', '>=', digit)]),
    ...(after === undefined ? [] : [eb('domain.id', '<', after)]),
  ]);
}
