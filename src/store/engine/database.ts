import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** What reads a database: the database itself, or a transaction that also sees its own changes. */
export type Queries = Pick<Kysely<Tables>, 'selectFrom' | 'with' | 'getExecutor'>;

/** A transaction. A function that takes one is part of a change that is stored completely or not at all. */
export type Tx = Transaction<Tables>;

/** A query reads the last committed state and never waits for a write. Only `write` changes anything. */
export interface Db extends Queries {
  /**
   * Runs a change in a transaction that holds the write lock from its beginning. Waits for other writers, of
   * this process and of others, without blocking the process. Throws `unavailable` when the wait is too long.
   */
  write<T>(change: (tx: Tx) => Promise<T>): Promise<T>;
}
