import type { Kysely, Transaction } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Tables } from '../tables.ts';

/** What reads a database: the database itself, or a transaction that also sees its own changes. */
export type Queries = Pick<Kysely<Tables>, 'selectFrom' | 'getExecutor'>;

/** A transaction. A function that takes one is part of a change that is stored completely or not at all. */
export type Tx = Transaction<Tables>;

/** A query reads the last committed state and never waits for a write. Only `write` changes anything. */
export interface Db extends Queries {
  /**
   * Runs a change in a transaction that holds the write lock from its beginning. Waits for other writers, of
   * this process and of others, without blocking the process. Throws `unavailable` when the wait is too long.
   */
  write<T>(change: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Why nothing more is taken in from outside; undefined while there is space. What people do, and what the service does
   * by itself, goes on. PostgreSQL's disk cannot be seen: when it is full, `write` throws.
   */
  findShortage(): Promise<string | undefined>;
}

/** Throws `unavailable` when nothing more is taken in. */
export async function requireSpace(db: Pick<Db, 'findShortage'>): Promise<void> {
  const shortage = await db.findShortage();
  if (shortage !== undefined) throw new Failure('unavailable', `Nothing is taken in: ${shortage}.`);
}

/**
 * Reads by `reading`, and runs each change by `run`, in a transaction of the engine. `settle` rejects new changes and waits
 * for those in progress.
 */
export function createDb(
  reading: Kysely<Tables>,
  run: Db['write'],
  findShortage: Db['findShortage'] = async () => undefined,
) {
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  const db: Db = {
    selectFrom: reading.selectFrom.bind(reading) as Db['selectFrom'],
    getExecutor: reading.getExecutor.bind(reading),
    write: async (change) => {
      if (isClosing) throw new Error('The database is closed.');
      const running = run(change);
      underWay.add(running);
      return await running.finally(() => underWay.delete(running));
    },
    findShortage,
  };
  const settle = async () => {
    isClosing = true;
    await Promise.allSettled(underWay);
  };
  return { db, settle };
}
