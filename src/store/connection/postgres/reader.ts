import type { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import type { Tx } from '../database.ts';
import { runPrepared } from '../prepared.ts';
import { type Reader, toReader } from '../reader.ts';
import { isOfConnection } from './postgres-error.ts';

/** Reads from a pool. Several queries read one snapshot: that of a transaction's first statement. */
export function createPostgresReader(db: Kysely<Tables>): Reader {
  const inSnapshot = <T>(read: (reader: Reader) => Promise<T>): Promise<T> =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((tx: Tx) => read(toReader(tx)));
  const readPlan: Reader['readPlan'] = (plan) => inSnapshot((reader) => reader.readPlan(plan));
  return {
    readFirst: async (query) => (await runPrepared(db, query))[0],
    readTogether: (...queries) => inSnapshot((reader) => reader.readTogether(...queries)),
    readPlan,
    readNoOlder: readPlan,
  };
}

/** How long a replica that could not be read is left alone, in milliseconds. */
const REST_MS = 5_000;

/**
 * Pages are read from the replica, when it has what the caller knows already. All else is read from the
 * primary, and so are pages while the replica cannot be used.
 */
export function withReplica(
  primary: Reader,
  replica: Reader,
  warn: (error: Error) => void,
): Reader {
  let restUntil = 0;
  const readCopy: Reader['readPlan'] = async (plan) => {
    try {
      return await replica.readPlan(plan);
    } catch (error) {
      // A replica that lags may not have the list, or not the point that the client has.
      if (isOfConnection(error)) {
        restUntil = performance.now() + REST_MS;
        warn(error as Error);
      }
      return undefined as never;
    }
  };
  return {
    ...primary,
    readNoOlder: async (plan, isCurrent) => {
      const copied = performance.now() < restUntil ? undefined : await readCopy(plan);
      if (copied !== undefined && isCurrent(copied)) return copied;
      return await primary.readPlan(plan);
    },
  };
}
