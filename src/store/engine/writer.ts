import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Db, Tx } from './database.ts';

export interface Writer {
  readonly write: Db['write'];
  readonly settle: () => Promise<void>;
}

/** The only way to change a database. `run` runs one change in a transaction of the engine. */
export function createWriter(run: <T>(change: (tx: Tx) => Promise<T>) => Promise<T>): Writer {
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  const write = async <T>(change: (tx: Tx) => Promise<T>): Promise<T> => {
    if (isClosing) throw new Error('The database is closed.');
    const running = run(change);
    underWay.add(running);
    try {
      return await running;
    } finally {
      underWay.delete(running);
    }
  };
  const settle = async () => {
    isClosing = true;
    await Promise.allSettled(underWay);
  };
  return { write, settle };
}

export function toDb(reading: Kysely<Tables>, { write }: Writer): Db {
  return {
    selectFrom: reading.selectFrom.bind(reading) as Db['selectFrom'],
    with: reading.with.bind(reading) as Db['with'],
    getExecutor: reading.getExecutor.bind(reading),
    write,
  };
}
