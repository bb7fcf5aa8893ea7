import type { Instant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';

/** An input without its bytes. */
export interface StoredInput {
  readonly seq: number;
  readonly name: string;
  readonly receivedAt: Instant;
}

export async function findInputBySha256(
  db: Queries,
  sha256: string,
): Promise<StoredInput | undefined> {
  return await db
    .selectFrom('source')
    .select(['seq', 'name', 'received_at as receivedAt'])
    .where('sha256', '=', sha256)
    .executeTakeFirst();
}

const NAMES_AT_ONCE = 1_000;

/** Not a join with reports: several servers may divide inputs and reports by different columns (decision 90). */
export async function findInputNames(
  db: Queries,
  seqs: readonly number[],
): Promise<(seq: number) => string> {
  const names = new Map<number, string>();
  for (let from = 0; from < seqs.length; from += NAMES_AT_ONCE) {
    const some = seqs.slice(from, from + NAMES_AT_ONCE);
    const rows = await db
      .selectFrom('source')
      .select(['seq', 'name'])
      .where('seq', 'in', some)
      .execute();
    for (const { seq, name } of rows) names.set(seq, name);
  }
  return (seq) => names.get(seq) ?? '';
}
