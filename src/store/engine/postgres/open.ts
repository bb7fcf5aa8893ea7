import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { openAside, runHere } from '../aside.ts';
import { createDb, type Tx } from '../database.ts';
import type { Reader } from '../reader.ts';
import type { Store, StoreOptions } from '../store.ts';
import { whileAway } from './away.ts';
import { type Division, readDivision } from './dialect.ts';
import { isRetryable, toPostgresError } from './errors.ts';
import { migratePostgres } from './migrate.ts';
import { connectPool, connectReading, type PoolOptions } from './pool.ts';
import { createPostgresReader, withReplica } from './reader.ts';

/** How long requests wait for a database that is away. */
const PATIENCE = { forMs: 5_000 };
/** How long a statement may take, and wait for a lock and for a connection, in milliseconds. */
type Times = Omit<PoolOptions, 'maxConnections'>;
/** A request is answered within 15 s, or not at all. Only changes of a table's columns make a read wait for a lock. */
const READING: Times = { timeoutMs: 15_000, lockTimeoutMs: 5_000, connectTimeoutMs: 5_000 };
/** A change waits as long for others' changes as on SQLite. */
const WRITING: Times = { timeoutMs: 30_000, connectTimeoutMs: 15_000 };
/** A page that the replica does not give at once comes from the primary; a load balancer asks for readiness again. */
const AT_ONCE: Times = { timeoutMs: 300, connectTimeoutMs: 300, patience: { forMs: 0 } };
/**
 * Migrations take as long as they take. Requests queue behind a statement that waits for the lock of a table, so it
 * does not wait long, and is tried again.
 */
const MIGRATING = { timeoutMs: 0, lockTimeoutMs: 300, connectTimeoutMs: 5_000 };
const MAX_CONNECTIONS = 10;
/** Writers wait for one another's locks, so more of them would not write more. */
const MAX_WRITING = 3;

/** Opens PostgreSQL 15 or newer and migrates it. Throws a Failure that says what to do and shows no password. */
export async function openPostgres(
  database: string,
  { mustExist = false, replica, variable, ...options }: StoreOptions,
): Promise<Store> {
  const division: Division = { isDivided: false };
  const pools = openPools(database, replica, { ...options, division });
  const { patience } = options;
  const connect = () => connectPool(database, { ...options, maxConnections: 1, ...MIGRATING });
  const migrating = { db: pools.reading.db, mustExist, ...options, connect };
  try {
    await whileAway(() => migratePostgres(database, migrating), patience);
    division.isDivided = await readDivision(pools.reading.db);
    return toStore(database, pools, options);
  } catch (error) {
    await pools.close();
    throw toPostgresError(database, error, variable);
  }
}

/**
 * Reads have connections of their own, so that they never wait for changes that wait for a lock. Of these, readiness has
 * one, and what each request reads first a third of the others, unless there are too few.
 */
function openPools(
  database: string,
  replicaUrl: string | undefined,
  options: StoreOptions & Pick<PoolOptions, 'division'>,
) {
  const { maxConnections = MAX_CONNECTIONS, patience = PATIENCE } = options;
  const forWriting = Math.min(MAX_WRITING, Math.ceil(maxConnections / 3));
  const forReading = Math.max(1, maxConnections - forWriting);
  const forFirst = Math.floor((forReading - 1) / 3);
  const given = { ...options, patience };
  const open = (url: string, connections: number, times: Times) =>
    connectReading(url, { ...given, maxConnections: connections, ...times });
  const writing = connectPool(database, { ...given, maxConnections: forWriting, ...WRITING });
  const replica = replicaUrl ? open(replicaUrl, forReading, AT_ONCE) : undefined;
  const isDivided = forFirst > 0;
  const reading = open(database, isDivided ? forReading - forFirst - 1 : forReading, READING);
  const readiness = isDivided ? open(database, 1, AT_ONCE) : reading;
  const first = isDivided ? open(database, forFirst, READING) : reading;
  let closing: Promise<unknown> | undefined;
  const close = async () => {
    const all = new Set([writing, replica, readiness, first, reading]);
    closing ??= Promise.all([...all].map((pool) => pool?.close()));
    await closing;
  };
  return { writing, replica, readiness, first, reading, close };
}

/** The connections of the thread of long reads. */
const MAX_ASIDE = 2;

/** Opens a reader of a thread, which ends with its connections. */
export async function openPostgresReader(
  database: string,
  password: () => string,
): Promise<Reader> {
  const division: Division = { isDivided: false };
  const options = { password, maxConnections: MAX_ASIDE, ...READING, patience: PATIENCE, division };
  const pool = connectReading(database, options);
  division.isDivided = await readDivision(pool.db);
  return createPostgresReader(pool);
}

function toStore(
  database: string,
  { writing, reading, first, readiness, replica, close }: ReturnType<typeof openPools>,
  { warn = () => {}, hasThread = false, password, patience }: StoreOptions,
): Store {
  const { db, settle } = createDb(reading.db, async (change) => {
    try {
      return await whileAway(() => runChange(writing.db, change), patience);
    } catch (error) {
      throw toPostgresError(database, error);
    }
  });
  const primary = createPostgresReader(reading, first);
  const reader =
    replica === undefined ? primary : withReplica(primary, createPostgresReader(replica), warn);
  const thread = hasThread ? openAside(database, password) : undefined;
  return {
    db,
    reader,
    aside: thread?.aside ?? runHere(reader),
    readiness: readiness.db,
    close: async () => {
      await settle();
      await thread?.close();
      await close();
    },
  };
}

/** How often a transaction runs before its deadlock or serialization failure is the caller's error. */
const MAX_TRIES = 8;
/** The longest pause before the second try, in milliseconds. It doubles with each try. */
const PAUSE_MS = 10;

/**
 * READ COMMITTED: each statement sees what was committed before it. A change locks the rows that it reads and
 * changes, in the order of decision 64.
 */
async function runChange<T>(db: Kysely<Tables>, change: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().setIsolationLevel('read committed').execute(change);
    } catch (error) {
      if (!isRetryable(error) || tries === MAX_TRIES) throw error;
      // At random, so that two transactions that met do not meet again.
      await sleep(Math.random() * PAUSE_MS * 2 ** tries);
    }
  }
}
