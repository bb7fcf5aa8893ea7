import type Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { openAside, runHere } from '../aside.ts';
import { createDb, type Db, type Queries } from '../database.ts';
import type { Reader } from '../reader.ts';
import { createShortage } from '../space.ts';
import type { Store, StoreOptions } from '../store.ts';
import { createSqliteDialect, IN_MEMORY, openConnection } from './connect.ts';
import { createDatabaseFile, requireDatabaseFile, requireNoBackup } from './database-file.ts';
import { toOpenError } from './errors.ts';
import { requireOwnLog, watchFiles } from './log-file.ts';
import { migrateSqlite } from './migrate.ts';
import { createSharedReader, createSqliteReader } from './reader.ts';

/** How long a read blocks while another process recovers or closes the file: readiness answers within 500 ms. */
const READ_TIMEOUT_MS = 200;

/**
 * Opens and migrates the database at a path, or in memory for `:memory:`. Makes a missing one, for this user only,
 * unless it must exist. Throws a Failure that names the path and what to do.
 */
export async function openSqlite(
  path: string,
  { mustExist = false, backupFolder, ...options }: StoreOptions,
): Promise<Store> {
  if (path === IN_MEMORY) return await open(path, options);
  try {
    if (backupFolder !== undefined) requireNoBackup(path, backupFolder);
    if (mustExist) requireDatabaseFile(path);
    else createDatabaseFile(path);
    requireOwnLog(path);
    return await open(path, options);
  } catch (error) {
    throw toOpenError(path, error);
  }
}

async function open(path: string, options: StoreOptions): Promise<Store> {
  const writing = toConnected(openConnection(path));
  const { db, connection } = writing;
  try {
    await migrateSqlite(db, connection, options);
    const reading = path === IN_MEMORY ? undefined : connectReading(path);
    const findShortage = createShortage(path, options);
    return toStore(writing, reading, { findShortage, hasThread: options.hasThread ?? false });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The bytes of a database that is filled in memory. */
export async function fillSqlite(fill: (store: Store) => Promise<void>): Promise<Buffer> {
  const writing = toConnected(openConnection(IN_MEMORY));
  await migrateSqlite(writing.db, writing.connection, {});
  const store = toStore(writing, undefined, OF_MEMORY);
  await fill(store);
  writing.connection.exec('vacuum');
  const bytes = writing.connection.serialize();
  await store.close();
  return bytes;
}

/** Opens such bytes: what is written goes when it is closed. */
export function openSqliteBytes(bytes: Buffer): Store {
  return toStore(toConnected(openConnection(bytes)), undefined, OF_MEMORY);
}

const OF_MEMORY = { findShortage: async () => undefined, hasThread: false };

type Connected = ReturnType<typeof toConnected>;

/** Reads a file that nobody writes to. */
export async function readDatabaseFile<T>(
  path: string,
  read: (reading: { readonly db: Queries; readonly reader: Reader }) => Promise<T>,
): Promise<T> {
  const reading = connectReading(path);
  try {
    return await read({ db: reading.db, reader: createSqliteReader(reading) });
  } finally {
    reading.connection.close();
  }
}

/** Opens a reader of a thread, which ends with its connection. */
export function openSqliteReader(path: string): Reader {
  const reading = connectReading(path);
  // Long ranges are read from one end to the other: what is kept of them is seldom read again.
  reading.connection.pragma('cache_size = -4000');
  return createSqliteReader(reading);
}

function connectReading(path: string): Connected {
  const connection = openConnection(path, { readonly: true });
  connection.pragma(`busy_timeout = ${READ_TIMEOUT_MS}`);
  return toConnected(connection);
}

function toConnected(connection: Database.Database) {
  return {
    db: new Kysely<Tables>({ dialect: createSqliteDialect(connection) }),
    connection,
  };
}

/**
 * In WAL mode reads on a connection of their own never wait for a change. A database in memory has one connection, so
 * reads and changes wait for one another.
 */
function toStore(
  writing: Connected,
  reading: Connected | undefined,
  { findShortage, hasThread }: { findShortage: Db['findShortage']; hasThread: boolean },
): Store {
  // What a statement changes is copied before, so that it can be undone alone: else into a file, from eight pages on. Not
  // before migrating, which may sort a whole table.
  writing.connection.pragma('temp_store = MEMORY');
  const requireFiles = reading && watchFiles(writing.connection.name);
  const write: Db['write'] = async (change) => {
    requireFiles?.();
    return await writing.db.transaction().execute(change);
  };
  const { db, settle } = createDb((reading ?? writing).db, write, findShortage);
  const reader = reading ? createSqliteReader(reading) : createSharedReader(writing.db);
  const thread = hasThread && reading ? openAside(writing.connection.name) : undefined;
  const close = async () => {
    await settle();
    await thread?.close();
    // The writing connection last: the last one to close checkpoints, and a reading one cannot.
    for (const connected of reading ? [reading, writing] : [writing]) {
      await connected.db.destroy();
      // Kysely closes only connections that it has used.
      connected.connection.close();
    }
  };
  return { db, reader, aside: thread?.aside ?? runHere(reader), readiness: db, close };
}
