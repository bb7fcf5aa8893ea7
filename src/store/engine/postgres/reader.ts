import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { Failure } from '../../../domain/failure.ts';
import type { Tables } from '../../tables.ts';
import { dialectOf } from '../dialect.ts';
import type { BoundQuery } from '../prepared.ts';
import { type Changing, createReader, type Plan, type Reader, runPlanAsync } from '../reader.ts';
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
    isDivided: () => dialectOf(db).isDivided,
    readPlan: (plan, of) => {
      const read = () =>
        run(findSql(plan(), db), (client) =>
          inSnapshot(client, async () => {
            if (of !== undefined && dialectOf(db).isDivided) await requireOneState(client, of);
            return await runPlanAsync(plan(), (queries) =>
              Promise.all(queries.map((query) => readRows(client, db, query))),
            );
          }),
        );
      return dialectOf(db).isDivided ? untilOneState(read) : read();
    },
  });
}

const OF_ACCOUNT = "changes_nonce || reports_version || coalesce(tls_version, '')";
const OF_DOMAIN = "reports_version || coalesce(tls_version, '') || coalesce(days_version, '')";

/**
 * Citus commits on its servers one after another, on the coordinator first (decision 134). Each has a copy of the account and of the
 * domain, which change with their reports. The first of these is a transaction's first statement, which gives it the snapshots of
 * the servers: of all, or of the one that has the domain.
 */
const STATES = {
  account: [
    `select distinct (select ${OF_ACCOUNT} from account where id = $1) as state from every_shard`,
    `select ${OF_ACCOUNT} as state from account where id = $1`,
  ],
  domain: [
    `select (select ${OF_DOMAIN} from domain where id = $1) as state
      from (select count(*) from (select from report where domain_seq = domain_seq($1) limit 1) as one) as asked`,
    `select ${OF_DOMAIN} as state from domain where id = $1`,
  ],
};

async function requireOneState(client: pg.PoolClient, { accountId, domainId }: Changing) {
  const texts = STATES[domainId === undefined ? 'account' : 'domain'];
  const read = texts.map((text) => client.query(toQuery(text, [domainId ?? accountId])));
  const states = (await Promise.all(read)).flatMap(({ rows }) => rows.map(({ state }) => state));
  if (new Set(states).size > 1) throw new SeveralStates();
}

/** Servers have different states of what is read together. */
class SeveralStates extends Error {}

/** A commit takes milliseconds; when a server was lost in the middle of it, until it is back and Citus has ended it. */
const MAX_STATE_TRIES = 20;
const STATE_PAUSE_MS = 10;

async function untilOneState<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof SeveralStates)) throw error;
      if (tries === MAX_STATE_TRIES)
        throw new Failure('unavailable', 'A change is not on all servers yet.', { cause: error });
    }
    await sleep(STATE_PAUSE_MS * Math.min(tries, 10));
  }
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
