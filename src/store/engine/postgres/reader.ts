import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../tables.ts';
import type { BoundQuery } from '../prepared.ts';
import { createReader, type Reader, runPlanAsync } from '../reader.ts';
import { isOfConnection } from './errors.ts';
import { type Connected, toQuery } from './pool.ts';

/**
 * Reads from a pool, without Kysely, whose transactions and queries would cost as much as the driver's own work.
 * One query reads one snapshot by itself; several read that of a transaction's first statement.
 */
export function createPostgresReader({ db, pool }: Pick<Connected, 'db' | 'pool'>): Reader {
  return createReader({
    readAll: (query) => readRows(pool, db, query) as never,
    readPlan: (plan) =>
      inSnapshot(pool, (client) =>
        runPlanAsync(plan(), (queries) =>
          Promise.all(queries.map((query) => readRows(client, db, query))),
        ),
      ),
  });
}

async function readRows(
  on: pg.Pool | pg.PoolClient,
  db: Kysely<Tables>,
  query: BoundQuery<unknown>,
): Promise<unknown[]> {
  const { sql, parameters } = query(db);
  return (await on.query(toQuery(sql, parameters))).rows;
}

const BEGIN = 'start transaction isolation level repeatable read read only';

/** Begin and commit are sent without waiting for an answer. A connection whose transaction failed is not reused. */
async function inSnapshot<T>(pool: pg.Pool, read: (client: pg.PoolClient) => Promise<T>) {
  const client = await pool.connect();
  try {
    const [, result] = await Promise.all([client.query(BEGIN), read(client)]);
    // If this fails, so does the next query of the connection.
    client.query('commit').catch(() => {});
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** How long a replica that could not be read is left alone, in milliseconds. */
const REST_MS = 5_000;

/**
 * Pages are read from the replica when it has what the caller already knows, all else from the primary. After a
 * failure the replica rests, and then one page tries it.
 */
export function withReplica(
  primary: Reader,
  replica: Reader,
  warn: (error: Error) => void,
): Reader {
  let restUntil = 0;
  const tryReplica = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    const now = performance.now();
    if (now < restUntil) return undefined;
    if (restUntil > 0) restUntil = now + REST_MS;
    try {
      const result = await read();
      restUntil = 0;
      return result;
    } catch (error) {
      // A replica that lags may not have the list, or not the point that the client has.
      if (isOfConnection(error)) {
        restUntil = now + REST_MS;
        warn(error as Error);
      }
      return undefined;
    }
  };
  return {
    ...primary,
    readNoOlder: async (read, isCurrent) => {
      const copied = await tryReplica(() => read(replica));
      return copied !== undefined && isCurrent(copied) ? copied : await read(primary);
    },
  };
}
