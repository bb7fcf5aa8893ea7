import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../tables.ts';
import type { BoundQuery } from '../prepared.ts';
import { createReader, type Plan, type Reader, runPlanAsync } from '../reader.ts';
import { isOfConnection } from './errors.ts';
import { type ReadingPool, toQuery } from './pool.ts';

/**
 * Reads from a pool, without Kysely, whose transactions and queries would cost as much as the driver's own work.
 * One query reads one snapshot by itself; several read that of a transaction's first statement.
 */
export function createPostgresReader(reading: ReadingPool, first = reading): Reader {
  const { db, run } = reading;
  const readOn = (pool: ReadingPool) => (query: BoundQuery<unknown>) =>
    pool.run(query(db).sql, (client) => readRows(client, db, query)) as never;
  return createReader({
    readFirst: readOn(first),
    readAll: readOn(reading),
    readPlan: (plan) =>
      run(findSql(plan(), db), (client) =>
        inSnapshot(client, () =>
          runPlanAsync(plan(), (queries) =>
            Promise.all(queries.map((query) => readRows(client, db, query))),
          ),
        ),
      ),
  });
}

/** The SQL of a plan's first query. */
function findSql(plan: Plan<unknown>, db: Kysely<Tables>): string {
  const { value, done } = plan.next([]);
  return done ? '' : (value[0]?.(db).sql ?? '');
}

async function readRows(
  on: pg.PoolClient,
  db: Kysely<Tables>,
  query: BoundQuery<unknown>,
): Promise<unknown[]> {
  const { sql, parameters } = query(db);
  return (await on.query(toQuery(sql, parameters))).rows;
}

const BEGIN = 'start transaction isolation level repeatable read read only';

/** Begin and commit are sent without waiting for an answer. A connection whose transaction failed is not reused. */
async function inSnapshot<T>(client: pg.PoolClient, read: () => Promise<T>) {
  const [, result] = await Promise.all([client.query(BEGIN), read()]);
  // If this fails, so does the next query of the connection.
  client.query('commit').catch(() => {});
  return result;
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
