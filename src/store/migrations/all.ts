import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** One small change of the schema. An older version goes on working while it runs, and after it. */
export interface Step {
  /** What it does and what waits for it, in the words of `plumbline migrate`. */
  readonly does: string;
  readonly locks: string;
  /**
   * Runs outside a transaction: an index that is built while others write, rows that are filled in by batches. It can
   * be interrupted anywhere, so it finds out what is done already. On SQLite a short one runs in a transaction.
   */
  readonly isRepeatable?: boolean;
  /** The table whose rows it goes through, and how many of them in a second. */
  readonly rows?: { readonly of: keyof Tables; readonly perSecond: number };
  readonly up: (db: Kysely<never>) => Promise<void>;
}

export type Steps = Readonly<Record<string, () => Promise<Step>>>;

/**
 * The migrations in the order in which they run. Append only: a migration that has run somewhere is never edited, renamed or
 * removed. Each is loaded when it runs, because almost every process opens a database that needs none.
 */
export const MIGRATIONS: Steps = {
  '0001-tables': () => import('./0001-tables.ts'),
};
